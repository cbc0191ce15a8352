import { createReconcileHandler } from '../../runtime/handler.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { goop } from './operator.ts';
import { reconciler } from './reconciler.ts';

export const createFunction: CreateFunction = (platform) =>
  createReconcileHandler(goop, reconciler, platform);
