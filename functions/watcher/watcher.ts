import { workingMilliseconds } from '../../runtime/deadline.ts';
import { withLabels } from '../../runtime/metrics.ts';
import type { Operator } from '../../runtime/operator.ts';
import type { CreateFunction, InvocationContext } from '../../runtime/platform.ts';
import { readRequest } from '../../runtime/watch/request.ts';
import { runWatch } from '../../runtime/watch/run-watch.ts';
import { defaultWatchSettings, type WatchSettings } from '../../runtime/watch/settings.ts';
import {
  createKindSource,
  createOwnedSource,
  type WatchSource,
} from '../../runtime/watch/source.ts';
import type { WatchCounts } from '../../runtime/watch/tally.ts';

/** What a shift answers. */
export interface ShiftReport extends Readonly<WatchCounts> {
  readonly cluster: string;
  readonly shiftSeconds: number;
}

/**
 * The function that turns changes in a cluster into hints on the bus, for one shift. Two shifts at once do no harm.
 *
 * @param settings overrides of how patient it is
 */
export function createWatcher(
  operators: readonly Operator[],
  settings: Partial<WatchSettings> = {},
): CreateFunction {
  const complete: WatchSettings = { random: Math.random, ...defaultWatchSettings, ...settings };
  return (platform) =>
    async (event, context): Promise<ShiftReport> => {
      const request = readRequest(event);
      const cluster = request.text('cluster') ?? firstCluster(platform.clusters);
      const milliseconds = shiftMilliseconds(request.seconds('shiftSeconds'), context);
      const { bus, cursors, clock } = platform;
      const metrics = withLabels(platform.metrics, { cluster });
      const log = platform.log.with({ cluster });
      const kube = platform.kube(cluster);
      const counts: WatchCounts = { forwarded: 0, suppressed: 0, relists: 0, reconnects: 0 };

      const shift = new AbortController();
      const end = clock.sleep(milliseconds).then(() => shift.abort(new Error('the shift is over')));
      const { signal } = shift;
      const shiftEnd = clock.now() + milliseconds;
      const shared = { kube, bus, cursors, clock, log, metrics, counts, settings: complete };
      const runs = sourcesOf(cluster, operators).map((source) =>
        runWatch(source, { ...shared, signal, shiftEnd }),
      );
      await Promise.all([end, ...runs]);
      const report = { cluster, shiftSeconds: milliseconds / 1000, ...counts };
      log.info('shift ended', report);
      return report;
    };
}

function sourcesOf(cluster: string, operators: readonly Operator[]): readonly WatchSource[] {
  return operators.flatMap((operator) => [
    createKindSource(cluster, operator),
    ...operator.owns.map((owned) => createOwnedSource(cluster, operator, owned)),
  ]);
}

/** Ends well before Lambda would, so that the last position is stored and an answer is given. */
function shiftMilliseconds(asked: number | undefined, context: InvocationContext): number {
  const most = workingMilliseconds(context);
  return asked === undefined ? most : Math.min(asked * 1000, most);
}

function firstCluster([first]: readonly string[]): string {
  if (first === undefined) throw new Error('at least one cluster must be configured, got none');
  return first;
}
