import type { DelayedHint } from '../../runtime/cloud.ts';
import type { Hint } from '../../runtime/hint.ts';
import type { KubeConnection } from '../../runtime/kube/transport.ts';
import type { LogLevel } from '../../runtime/log.ts';
import type { MetricLabels, MetricName } from '../../runtime/metrics.ts';
import type { LambdaError } from './invocation.ts';

/** What main thread and execution environment say to each other. Plain data only: it is cloned between threads. */

/** A connection that can be cloned. A token may run out while the thread lives, so it is asked for in the main thread. */
export type ClusterConnection = Omit<KubeConnection, 'token' | 'forgetToken'> & {
  readonly hasToken: boolean;
};

/** `workerData` of an execution environment. */
export interface WorkerSetup {
  readonly functionName: string;
  /** Absolute path of a module that exports `createFunction`. */
  readonly modulePath: string;
  readonly clusters: Readonly<Record<string, ClusterConnection>>;
  readonly logLevel: LogLevel;
}

export type ToWorker =
  | {
      readonly type: 'invoke';
      readonly requestId: string;
      readonly payload: string;
      /** Milliseconds since the epoch. */
      readonly deadline: number;
    }
  | { readonly type: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly type: 'refusal'; readonly id: number; readonly error: RemoteError };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'initFailed'; readonly error: LambdaError }
  | { readonly type: 'answered'; readonly requestId: string; readonly payload: string }
  | { readonly type: 'failed'; readonly requestId: string; readonly error: LambdaError }
  | { readonly type: 'call'; readonly id: number; readonly call: PortCall }
  /** JSON of a LogLine: fields may hold what cannot be cloned. */
  | { readonly type: 'log'; readonly line: string }
  | { readonly type: 'metric'; readonly metric: MetricCall };

/** A call of a port that lives in the main thread. */
export type PortCall =
  | { readonly method: 'bus.put'; readonly hints: readonly Hint[] }
  | {
      readonly method: 'inbox.send';
      readonly operator: string;
      readonly hints: readonly DelayedHint[];
    }
  | {
      readonly method: 'workQueue.retryAfter';
      readonly operator: string;
      readonly receiptHandle: string;
      readonly seconds: number;
    }
  | { readonly method: 'cursors.read'; readonly key: string }
  | { readonly method: 'cursors.write'; readonly key: string; readonly resourceVersion: string }
  | { readonly method: 'cursors.clear'; readonly key: string }
  | { readonly method: 'token'; readonly cluster: string };

export interface MetricCall {
  readonly method: 'count' | 'observe';
  readonly name: MetricName;
  readonly labels: MetricLabels;
  readonly value: number;
}

export interface RemoteError {
  readonly name: string;
  readonly message: string;
}
