import type { Part } from '../part.ts';
import { calls } from './calls.ts';
import { capped } from './capped.ts';
import { deadlines } from './deadlines.ts';
import { faults } from './faults.ts';
import { memory } from './memory.ts';
import { mixed } from './mixed.ts';
import { moving } from './moving.ts';
import { ranges } from './ranges.ts';
import { startUp } from './start-up.ts';
import { uncapped } from './uncapped.ts';

/** In the order in which they run. */
export const parts: readonly Part[] = [
  uncapped,
  capped,
  moving,
  mixed,
  ranges,
  calls,
  memory,
  deadlines,
  faults,
  startUp,
];
