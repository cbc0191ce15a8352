import { createWatcher, type ShiftReport } from '../../functions/watcher/watcher.ts';
import type { Operator } from '../../runtime/operator.ts';
import type { WatchSettings } from '../../runtime/watch/settings.ts';
import { createMemoryCluster } from './watch-memory-cluster.ts';
import { createInvocation, createMemoryPlatform, operator } from './watch-platform.ts';
import { createVirtualClock } from './watch-virtual-clock.ts';

export const widget = operator.kind;
export const CURSOR = 'main/test.podless.dev/widgets';

export const gadget = {
  group: '',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  labelSelector: 'made-by=podless',
  verbs: ['get'],
};
export const owner: Operator = { ...operator, owns: [gadget] };
export const GADGET_CURSOR = 'main//gadgets/made-by=podless/widget';

/** An object that needs a reconcile. */
export const fresh = (name: string, metadata: object = {}) => ({
  metadata: { name, generation: 1, ...metadata },
});
/** An object whose last reconcile is done. */
export const settled = (name: string, metadata: object = {}) => ({
  ...fresh(name, metadata),
  status: { observedGeneration: 1 },
});

/** A cluster, a platform and a clock that jumps; `script` steps run at their second of the shift. */
export function createShiftWorld(operators: readonly Operator[] = [operator]) {
  const clock = createVirtualClock();
  const cluster = createMemoryCluster(clock, widget, gadget);
  const memory = createMemoryPlatform(cluster.kube, clock);
  const started = clock.now();
  return {
    ...memory,
    memory,
    cluster,
    clock,
    /** Seconds since the world began. */
    seconds: () => (clock.now() - started) / 1000,
    async shift(
      shiftSeconds: number,
      script: Readonly<Record<number, () => void>> = {},
      settings: Partial<WatchSettings> = {},
    ): Promise<ShiftReport> {
      const handler = createWatcher(operators, { random: () => 0.5, ...settings })(memory.platform);
      for (const [second, step] of Object.entries(script)) {
        void clock.sleep(Number(second) * 1000).then(step);
      }
      const run = handler({ shiftSeconds }, createInvocation(clock, shiftSeconds + 30));
      return (await clock.run(run)) as ShiftReport;
    },
  };
}
