import { createReconcileHandler } from '../../runtime/handler.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { myownshell } from './operator.ts';
import { reconciler } from './reconciler.ts';

export const createFunction: CreateFunction = (platform) =>
  createReconcileHandler(myownshell, reconciler, platform);
