import { deployedOf } from '../../runtime/aws/deployed-operators.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { operators } from '../operators.ts';
import { createResync } from './resync.ts';

export const createFunction: CreateFunction = (platform) =>
  createResync(deployedOf(operators, platform.environment))(platform);
