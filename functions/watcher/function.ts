import { deployedOf } from '../../runtime/aws/deployed-operators.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { operators } from '../operators.ts';
import { createWatcher } from './watcher.ts';

export const createFunction: CreateFunction = (platform) =>
  createWatcher(deployedOf(operators, platform.environment))(platform);
