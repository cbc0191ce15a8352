import { isDeepStrictEqual } from 'node:util';
import { createReconciler } from '../../functions/ddbctldpjob/reconciler.ts';
import type { JobStatus } from '../../functions/ddbctldpjob/spec.ts';
import type { Partition, PartitionTable } from '../../functions/ddbctldpjob/table.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { mergeConditions } from '../../runtime/conditions.ts';
import { OperatorError } from '../../runtime/errors.ts';
import type { CommonStatus, KubeObject, ObjectMeta } from '../../runtime/kube/objects.ts';
import { createLog } from '../../runtime/log.ts';
import type { ReconcileContext, Result, Verdict } from '../../runtime/reconcile.ts';
import { createVirtualClock } from './cloud-clock.ts';
import { drive } from './dynamodb-drive.ts';
import { createMemoryPartition, itemNames } from './dynamodb-memory-table.ts';

export interface WorldOptions {
  readonly items: number;
  readonly seed?: number;
  /** Default 100. */
  readonly latencyMs?: number;
  /** From the start of a run to its being killed. Default 60,000. */
  readonly timeoutMs?: number;
}

/** When a run is killed, as a function is: not one more line of it is executed. */
export type Kill =
  | { readonly afterMs: number }
  /** At the n-th write of a status, the last one of the run included. */
  | { readonly atWrite: number; readonly stored: boolean };

export interface RunOptions {
  readonly kill?: Kill | undefined;
  readonly dryRun?: boolean;
  /** What a checkpoint throws, by its number from 1, instead of storing. */
  readonly outage?: (checkpoint: number) => Error | undefined;
}

type State = JobStatus & CommonStatus;
type Change = Pick<Result, 'status' | 'conditions'>;

/** A job and its partition in memory, with an API server that knows only whether a writer has seen the last write. */
export function createJobWorld(spec: object, options: WorldOptions) {
  const { items, seed = 1, latencyMs = 100, timeoutMs = 60_000 } = options;
  const clock = createVirtualClock();
  const random = seededRandom(seed);
  const settings = { clock, random, pageSize: 200, latencyMs };
  const partition = createMemoryPartition(itemNames(items), settings);
  const metadata = { name: 'job', namespace: 'default', uid: '1', generation: 1 };
  let stored = { spec, metadata: { ...metadata, annotations: {} }, status: {} as State };
  let version = 0;
  let runs = 0;
  const world = { describeFails: undefined as Error | undefined };

  const history: State[] = [];
  const put = (next: Partial<typeof stored>) => {
    stored = { ...stored, ...next };
    if (next.status) history.push(next.status);
    version += 1;
  };
  const read = (): KubeObject =>
    structuredClone({
      apiVersion: 'v1',
      kind: 'DdbctlDpJob',
      ...stored,
      metadata: { ...stored.metadata, resourceVersion: String(version) } satisfies ObjectMeta,
    });

  /** One delivery. Undefined if it was killed. */
  async function run({
    kill,
    dryRun = false,
    outage,
  }: RunOptions = {}): Promise<Result | undefined> {
    runs += 1;
    const object = read();
    const life = createLife();
    const stopping = new AbortController();
    const deadline = clock.now() + timeoutMs;
    const windUpMilliseconds = timeoutMs * 0.3;
    const whenAlive = (milliseconds: number, act: () => void) =>
      void clock.sleep(milliseconds, life.ended).then(act, () => {});
    whenAlive(timeoutMs - windUpMilliseconds, () => stopping.abort());
    whenAlive(timeoutMs, life.kill);
    if (kill && 'afterMs' in kill) whenAlive(kill.afterMs, life.kill);

    let seen = version;
    let writes = 0;
    const write = async ({ status, conditions }: Change): Promise<Verdict> => {
      writes += 1;
      const { generation } = object.metadata;
      const now = clock.now();
      const previous = stored.status.conditions ?? [];
      const next = {
        ...status,
        observedGeneration: generation,
        conditions: mergeConditions(previous, conditions, { generation, now }),
      } as State;
      const dies = kill && 'atWrite' in kill && kill.atWrite === writes ? kill : undefined;
      if (dies && !dies.stored) return life.die();
      if (seen !== version) return { goOn: false, why: 'overtaken', recorded: false };
      if (!isDeepStrictEqual(next, stored.status)) put({ status: next });
      seen = version;
      if (dies) return life.die();
      return stored.metadata.generation === generation
        ? { goOn: true }
        : { goOn: false, why: 'the spec was changed', recorded: true };
    };
    let checkpoints = 0;
    const context: ReconcileContext = {
      log: createLog(() => {}),
      clock,
      cluster: 'main',
      get kube(): never {
        throw new Error('a job has no children');
      },
      fieldManager: 'podless-ddbctldpjob',
      announce: async () => undefined,
      signal: stopping.signal,
      deadline,
      windUpMilliseconds,
      runId: `run-${runs}`,
      dryRun,
      isStillThere: async () => true,
      checkpoint: async (interim) => {
        checkpoints += 1;
        const problem = outage?.(checkpoints);
        if (problem) throw problem;
        return dryRun ? { goOn: true } : write(interim);
      },
    };
    const reconciler = createReconciler({ openTable: () => tableFor(life) });
    const work = (async () => {
      try {
        const result = await reconciler.reconcile(object, context);
        if (!dryRun) await write(result);
        return result;
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        const now = clock.now();
        const failure = reconciler.describeFailure({ object: read(), error, now });
        const { reason, message } = error;
        const conditions = [{ type: 'Ready', status: 'False', reason, message }] as const;
        await write({ ...failure, conditions });
        return { ...failure, conditions };
      }
    })();
    work.catch(() => {});
    const result = await drive(clock, Promise.race([work, life.killed]));
    life.end();
    return result;
  }

  /** Calls of a dead run reach nothing, and nothing reaches it. */
  function tableFor(life: Life): PartitionTable {
    const guard = async <T>(call: () => Promise<T>): Promise<T> => {
      if (life.isOver()) return life.die();
      const outcome = await call().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      if (life.isOver()) return life.die();
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    };
    const guarded: Partition = {
      page: (query) => guard(() => partition.page(query)),
      count: (query) => guard(() => partition.count(query)),
      deleteKeys: (keys, signal) => guard(() => partition.deleteKeys(keys, signal)),
    };
    return {
      describe: () =>
        guard(async () => {
          if (world.describeFails) throw world.describeFails;
          const partitionKey = { name: 'id', type: 'S' } as const;
          return { partitionKey, sortKey: { name: 'at', type: 'S' }, status: 'ACTIVE' };
        }),
      partition: () => guarded,
    };
  }

  /** Delivers again, as the queue and the requeues do, until the job asks for no more; kills as told, then no more. */
  async function runToTheEnd(kills: readonly Kill[] = []): Promise<State> {
    for (let delivery = 0; delivery < 300; delivery += 1) {
      const result = await run({ kill: kills[delivery] });
      if (result && !result.requeue) return stored.status;
      await clock.advance((result?.requeue?.afterSeconds ?? 1) * 1000);
    }
    throw new Error(`the job must end, it is at ${JSON.stringify(stored.status)}`);
  }

  return {
    clock,
    partition,
    run,
    runToTheEnd,
    status: (): State => stored.status,
    /** Every status there was, oldest first. */
    history: history as readonly State[],
    /** A new generation, unless nothing changed. */
    changeSpec: (change: object) =>
      put({
        spec: { ...stored.spec, ...change },
        metadata: { ...stored.metadata, generation: stored.metadata.generation + 1 },
      }),
    setStatus: (status: State) => put({ status }),
    annotate: (annotations: object) => put({ metadata: { ...stored.metadata, annotations } }),
    /** Makes the table answer every look at it with this. */
    failDescribe: (error: Error | undefined) => {
      world.describeFails = error;
    },
  };
}

/** One run's life: once over, whatever awaits something waits for ever. */
interface Life {
  readonly killed: Promise<undefined>;
  readonly ended: AbortSignal;
  isOver(): boolean;
  kill(): void;
  end(): void;
  /** Kills, and never returns. */
  die(): Promise<never>;
}

function createLife(): Life {
  const { promise: killed, resolve } = Promise.withResolvers<undefined>();
  const ending = new AbortController();
  const kill = () => {
    ending.abort();
    resolve(undefined);
  };
  return {
    killed,
    ended: ending.signal,
    isOver: () => ending.signal.aborted,
    kill,
    end: () => ending.abort(),
    die: () => {
      kill();
      return new Promise<never>(() => {});
    },
  };
}
