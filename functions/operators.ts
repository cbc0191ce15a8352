import type { Operator } from '../runtime/operator.ts';
import { collector } from './collector/operator.ts';
import { ddbctldpjob } from './ddbctldpjob/operator.ts';
import { goop } from './goop/operator.ts';
import { helmOperators } from './helm/operator.ts';
import { myownshell } from './myownshell/operator.ts';

/** Every operator there is. A new kind is a folder, a CRD and a line here; one out of a chart is a line in watches.yaml. */
export const operators: readonly Operator[] = [
  ddbctldpjob,
  myownshell,
  goop,
  ...helmOperators,
  collector,
];
