import { defineConfig } from 'vitest/config';

const minutes = 60_000;

/** Keeps both cores busy by itself: alone. */
const heavy = ['test/scenario/scale.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    reporters: ['default', './test/helpers/closing-line-reporter.ts'],
    // Of two cores: most tests wait for servers most of the time.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: minutes },
      },
      {
        extends: true,
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          testTimeout: 2 * minutes,
          hookTimeout: 20 * minutes,
        },
      },
      {
        extends: true,
        test: {
          name: 'synth',
          include: ['test/synth/**/*.test.ts'],
          // The CDK takes seconds to load: once for all files of a worker.
          isolate: false,
          testTimeout: 2 * minutes,
          hookTimeout: 10 * minutes,
        },
      },
      {
        extends: true,
        test: {
          name: 'deployed',
          include: ['test/deployed/**/*.test.ts'],
          globalSetup: ['test/deployed/global-setup.ts'],
          testTimeout: 5 * minutes,
          hookTimeout: 20 * minutes,
        },
      },
      {
        extends: true,
        test: {
          name: 'bench',
          include: ['test/bench/**/*.test.ts'],
          testTimeout: 2 * minutes,
          hookTimeout: 10 * minutes,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'scenario',
          include: ['test/scenario/**/*.test.ts'],
          exclude: heavy,
          testTimeout: 5 * minutes,
          hookTimeout: 20 * minutes,
        },
      },
      {
        extends: true,
        test: {
          name: 'load',
          include: heavy,
          testTimeout: 5 * minutes,
          hookTimeout: 20 * minutes,
          fileParallelism: false,
        },
      },
    ],
  },
});
