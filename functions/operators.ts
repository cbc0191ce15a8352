import type { Operator } from '../runtime/operator.ts';
import { ddbctldpjob } from './ddbctldpjob/operator.ts';

/** Every operator there is. A new kind is a folder, a CRD and a line here. */
export const operators: readonly Operator[] = [ddbctldpjob];
