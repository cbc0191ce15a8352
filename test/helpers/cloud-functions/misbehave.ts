import { setTimeout as delay } from 'node:timers/promises';
import type { CreateFunction } from '../../../runtime/platform.ts';

/** Does what the event asks for, all of it bad. */
export const createFunction: CreateFunction = ({ log, metrics }) => {
  const acts: Readonly<Record<string, () => unknown>> = {
    throw: () => {
      throw new RangeError('as asked for');
    },
    throwText: () => {
      throw 'only text';
    },
    hang: () => new Promise(() => {}),
    loop: () => {
      for (;;);
    },
    sleep: () => delay(300).then(() => 'slept'),
    exit: () => process.exit(3),
    crash: () => {
      setTimeout(() => {
        throw new TypeError('nobody catches me');
      }, 1);
      return new Promise(() => {});
    },
    crashLater: () => {
      setTimeout(() => {
        throw new TypeError('while idle');
      }, 100);
      return 'fine so far';
    },
    exhaustMemory: () => {
      const kept: string[][] = [];
      for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => `${kept.length}-${index}`));
    },
    answerNothing: () => undefined,
    answerCycle: () => {
      const cycle: { self?: object } = {};
      cycle.self = cycle;
      return cycle;
    },
    answerTooMuch: () => 'x'.repeat(7_000_000),
    logOddities: () => {
      const cycle: { self?: object } = {};
      cycle.self = cycle;
      log.info('odd', { big: 1n, callback: () => {} });
      log.info('cyclic', { cycle });
      metrics.count('podless_no_such_metric' as never, {});
      process.stdout.write('to stdout\n');
      return 'logged';
    },
    logMuch: () => {
      for (let line = 0; line < 100; line += 1) log.info('line', { line, text: 'ä'.repeat(50) });
      return 'logged';
    },
  };
  return async (event) => acts[(event as { act: string }).act]?.() ?? null;
};
