import { MAX_DELAY_SECONDS } from '../../runtime/cloud.ts';
import { workingMilliseconds } from '../../runtime/deadline.ts';
import { isKubeStatus } from '../../runtime/kube/client.ts';
import { describeError } from '../../runtime/log.ts';
import { withLabels } from '../../runtime/metrics.ts';
import type { Operator } from '../../runtime/operator.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { readRequest } from '../../runtime/watch/request.ts';
import { type KindCounts, type Sweep, sweepKind } from './sweep.ts';

/** What a run answers. */
export interface ResyncReport {
  readonly cluster: string;
  readonly kinds: Readonly<Record<string, KindCounts>>;
}

/**
 * The function that has every object looked at again, whether or not an event was seen: the safety net under the
 * watcher.
 */
export function createResync(
  operators: readonly Operator[],
  random: () => number = Math.random,
): CreateFunction {
  return (platform) =>
    async (event, context): Promise<ResyncReport> => {
      const request = readRequest(event);
      const cluster = request.text('cluster') ?? platform.clusters[0];
      if (cluster === undefined)
        throw new Error('at least one cluster must be configured, got none');
      const asked = request.seconds('spreadSeconds');
      const shared = {
        cluster,
        kube: platform.kube(cluster),
        metrics: withLabels(platform.metrics, { cluster }),
        random,
        runId: context.awsRequestId,
        // Fires before Lambda ends the function, so that a run that is too slow says so.
        signal: AbortSignal.timeout(workingMilliseconds(context)),
      };
      const sweeps = chosen(operators, request.text('operator')).map((operator) => ({
        ...shared,
        operator,
        inbox: platform.inbox(operator.name),
        spreadSeconds: Math.min(asked ?? operator.resyncSeconds / 2, MAX_DELAY_SECONDS),
        log: platform.log.with({ cluster, kind: operator.kind.kind }),
      }));
      return { cluster, kinds: await sweepAll(sweeps) };
    };
}

/** Every kind gets its turn before a failure of one is thrown: then the run counts as failed and is started again. */
async function sweepAll(sweeps: readonly Sweep[]): Promise<Record<string, KindCounts>> {
  const kinds: Record<string, KindCounts> = {};
  const failures: string[] = [];
  for (const sweep of sweeps) {
    const { kind } = sweep.operator.kind;
    try {
      kinds[kind] = await sweepKind(sweep);
      sweep.log.info('resynced', { ...kinds[kind] });
    } catch (error) {
      if (isKubeStatus(error, 404)) {
        kinds[kind] = { sent: 0, rejected: 0, skipped: 'kind is not installed' };
        sweep.log.info('kind is not installed');
      } else {
        sweep.log.error('resync failed', describeError(error));
        failures.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  if (failures.length === 0) return kinds;
  const served = JSON.stringify(kinds);
  throw new Error(
    `resync must reach every kind, failed for ${failures.join('; ')}; served ${served}`,
  );
}

function chosen(operators: readonly Operator[], name: string | undefined): readonly Operator[] {
  const found = operators.filter((operator) => name === undefined || operator.name === name);
  if (found.length > 0) return found;
  const known = operators.map((operator) => operator.name).join(', ');
  throw new Error(`operator must be one of ${known}, got ${JSON.stringify(name)}`);
}
