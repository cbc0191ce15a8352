import { setTimeout as delay } from 'node:timers/promises';
import type { CreateFunction } from '../../../runtime/platform.ts';

await delay(Number(process.env.LOAD_MILLISECONDS));

export const createFunction: CreateFunction = () => async () => 'loaded';
