import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Kind } from '../operator.ts';
import { apiVersionOf } from '../operator.ts';
import { isRecord, textOf } from '../untrusted.ts';
import { KubeApiError, type KubeClient, KubeConnectionError, type ListPage } from './client.ts';
import type { ApiRequest } from './exchange.ts';
import type { KubeObject, ObjectRef } from './objects.ts';
import { createTransport, type KubeConnection, type Transport } from './transport.ts';

/**
 * A Kubernetes client of the few calls we make, on node:https. Why not all of client-node: it adds 1.5 MB and about
 * 170 ms to a cold start, and its watch hides errors (docs/adr/0003).
 */
export const createKubeClient = (connection: KubeConnection): KubeClient =>
  createKubeClientOver(createTransport(connection));

/** The same, where the transport is not known by an address alone. */
export function createKubeClientOver(transport: Transport): KubeClient {
  const json = async (request: ApiRequest) => parseObject(await transport.text(request), request);
  return {
    get: async (ref, signal) => {
      try {
        return await json({ method: 'GET', path: pathOf(ref), ...optional({ signal }) });
      } catch (error) {
        if (error instanceof KubeApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    list: (kind, { signal, namespace = '', ...query }) =>
      listPage(transport, collectionOf(kind, namespace), { query, ...optional({ signal }) }),
    watch: (kind, { signal, ...query }) =>
      openWatch(transport, kind, { query, ...optional({ signal }) }),
    apply: (ref, body, { fieldManager, subresource, force = true, dryRun, signal }) =>
      json({
        method: 'PATCH',
        path: pathOf(ref, subresource),
        query: { fieldManager, force, ...(dryRun && { dryRun: 'All' }) },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: apiVersionOf(ref.kind), kind: ref.kind.kind, ...body },
        ...optional({ signal }),
      }),
    mergePatch: (ref, body, options = {}) =>
      json({
        method: 'PATCH',
        path: pathOf(ref),
        contentType: 'application/merge-patch+json',
        body,
        ...optional(options),
      }),
    create: (kind, namespace, body, options = {}) =>
      json({
        method: 'POST',
        path: collectionOf(kind, namespace),
        body: { apiVersion: apiVersionOf(kind), kind: kind.kind, ...body },
        ...optional(options),
      }),
    delete: async (ref, { uid, resourceVersion, propagationPolicy, signal }) => {
      const preconditions = optional({ uid, resourceVersion });
      const body = { preconditions, ...optional({ propagationPolicy }) };
      try {
        await transport.text({
          method: 'DELETE',
          path: pathOf(ref),
          body,
          ...optional({ signal }),
        });
      } catch (error) {
        if (!(error instanceof KubeApiError && error.status === 404)) throw error;
      }
    },
    serverVersion: async (signal) => {
      const request = { method: 'GET', path: '/version', ...optional({ signal }) } as const;
      const version = textOf(parseAnswer(await transport.text(request)), 'gitVersion');
      if (version === undefined) throw unreadable(request, 'an object with gitVersion');
      return version;
    },
  };
}

interface CollectionRequest {
  readonly query: NonNullable<ApiRequest['query']>;
  readonly signal?: AbortSignal;
}

async function listPage(
  transport: Transport,
  path: string,
  call: CollectionRequest,
): Promise<ListPage> {
  const request = { method: 'GET', path, ...call } as const;
  const list = parseAnswer(await transport.text(request));
  if (!isRecord(list) || !Array.isArray(list['items']) || !isRecord(list['metadata'])) {
    throw unreadable(request, 'an object with metadata and items');
  }
  const { resourceVersion, continue: next } = list['metadata'];
  return {
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    items: list['items'],
    ...(typeof next === 'string' && next !== '' && { continue: next }),
  };
}

function openWatch(transport: Transport, kind: Kind, call: CollectionRequest): Promise<Readable> {
  const query = { ...call.query, watch: true, allowWatchBookmarks: true };
  const opened: Promise<IncomingMessage> = transport.open({
    method: 'GET',
    path: collectionOf(kind, ''),
    query,
    ...optional({ signal: call.signal }),
  });
  return opened;
}

function collectionOf({ group, version, plural }: Kind, namespace: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === ''
    ? `${root}/${plural}`
    : `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

function pathOf({ kind, namespace, name }: ObjectRef, subresource?: string): string {
  const path = `${collectionOf(kind, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

function parseObject(text: string, request: ApiRequest): KubeObject {
  const object = parseAnswer(text);
  if (isRecord(object) && isRecord(object['metadata'])) return object as unknown as KubeObject;
  throw unreadable(request, 'an object with metadata');
}

/** `undefined` if it is no JSON: something between us and the API server has answered, or cut the answer short. */
function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unreadable = ({ method, path }: ApiRequest, expected: string): KubeConnectionError =>
  new KubeConnectionError(`answer to ${method} ${path} must be ${expected}, got something else`);

/** Drops the keys whose value is undefined, as exactOptionalPropertyTypes asks for. */
function optional<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
