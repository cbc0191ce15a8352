import type { Readable } from 'node:stream';
import type { Kind } from '../operator.ts';
import type { KubeObject, ObjectRef } from './objects.ts';

/**
 * What the project needs of the Kubernetes API. Every method throws `KubeApiError` for an answer that is an error and
 * `KubeConnectionError` if there is no whole answer.
 */
export interface KubeClient {
  /** `undefined` if there is none (404). */
  get(ref: ObjectRef, signal?: AbortSignal): Promise<KubeObject | undefined>;
  /** One page. Items are not checked: one bad object must cost only itself. */
  list(kind: Kind, options: ListOptions): Promise<ListPage>;
  /** The raw stream of a watch, one JSON event a line; headers have arrived when it resolves. */
  watch(kind: Kind, options: WatchOptions): Promise<Readable>;
  /** Server-side apply. `body` holds only the fields this manager owns. */
  apply(ref: ObjectRef, body: object, options: ApplyOptions): Promise<KubeObject>;
  /** JSON merge patch; put `metadata.resourceVersion` into it for a conflict check. */
  mergePatch(ref: ObjectRef, body: object, options?: WriteOptions): Promise<KubeObject>;
  create(kind: Kind, namespace: string, body: object, options?: WriteOptions): Promise<KubeObject>;
  /** Deleting what is gone already is not an error. */
  delete(ref: ObjectRef, options: DeleteOptions): Promise<void>;
  /** Of the API server, such as `v1.36.3`. */
  serverVersion(signal?: AbortSignal): Promise<string>;
}

export interface ListOptions {
  readonly limit: number;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly continue?: string;
  readonly labelSelector?: string;
  readonly signal?: AbortSignal;
}

export interface ListPage {
  readonly resourceVersion: string;
  readonly items: readonly unknown[];
  /** Set if there are more pages. */
  readonly continue?: string;
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly labelSelector?: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  readonly subresource?: 'status';
  /** Takes over fields that others have set. Default true; false refuses with 409 instead. */
  readonly force?: boolean;
  /** Asks the server to check and default everything but store nothing. Default false. */
  readonly dryRun?: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** Deletes only the object that was read, not a new one of the same name. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/** An answer of the API server that is an error, with the fields of its `Status` object. */
export class KubeApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, reason: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'KubeApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer, or half of one: the request may or may not have been carried out. */
export class KubeConnectionError extends Error {
  override readonly name = 'KubeConnectionError';
}

export const isKubeStatus = (error: unknown, status: number): error is KubeApiError =>
  error instanceof KubeApiError && error.status === status;
