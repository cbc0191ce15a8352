import type { Clock } from './clock.ts';
import type { CursorStore, EventBus, Inbox, WorkQueue } from './cloud.ts';
import type { KubeClient } from './kube/client.ts';
import type { KubeConnection } from './kube/transport.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * All that a function needs from where it runs. On Lambda it is made of AWS clients, on a laptop of `local/cloud`;
 * the functions cannot tell the difference.
 */
export interface Platform {
  /** Names of the clusters served. The first is meant where a request names none. */
  readonly clusters: readonly string[];
  /** Reaches a cluster with this function's own identity. Throws for a name that is not served. */
  kube(cluster: string): KubeClient;
  /** The same, for a program that has a Kubernetes client of its own. */
  kubeConnection(cluster: string): Promise<KubeConnection>;
  readonly bus: EventBus;
  /** The inbox of an operator, by the operator's name. */
  inbox(operator: string): Inbox;
  /** The work queue of an operator, by the operator's name. */
  workQueue(operator: string): WorkQueue;
  readonly cursors: CursorStore;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Configuration by name; read once, when the function is created. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The part of Lambda's context object that we use. */
export interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  getRemainingTimeInMillis(): number;
}

/** A Lambda handler. */
export type Handler = (event: unknown, context: InvocationContext) => Promise<unknown>;

/** What `functions/<name>/function.ts` exports as `createFunction`. */
export type CreateFunction = (platform: Platform) => Handler;
