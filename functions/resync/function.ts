import type { CreateFunction } from '../../runtime/platform.ts';
import { operators } from '../operators.ts';
import { createResync } from './resync.ts';

export const createFunction: CreateFunction = createResync(operators);
