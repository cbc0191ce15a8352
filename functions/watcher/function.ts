import type { CreateFunction } from '../../runtime/platform.ts';
import { operators } from '../operators.ts';
import { createWatcher } from './watcher.ts';

export const createFunction: CreateFunction = createWatcher(operators);
