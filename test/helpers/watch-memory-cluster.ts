import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import { KubeApiError, type KubeClient, type ListOptions } from '../../runtime/kube/client.ts';
import type { Kind } from '../../runtime/operator.ts';

export interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  [field: string]: unknown;
}
export interface Stored {
  metadata: Metadata;
  [field: string]: unknown;
}

interface Entry {
  readonly plural: string;
  readonly revision: number;
  readonly type: string;
  readonly object: Stored;
}

interface OpenStream {
  readonly plural: string;
  readonly selector: string | undefined;
  readonly from: number;
  readonly stream: PassThrough;
}

const BOOKMARK_MILLISECONDS = 60_000;

/** A small API server in memory: revisions, paged lists, watches with history and bookmarks. */
export function createMemoryCluster(clock: Clock, ...kinds: Kind[]) {
  const installed = new Set(kinds.map((kind) => kind.plural));
  const objects = new Map<string, Stored>();
  const history: Entry[] = [];
  const streams = new Set<OpenStream>();
  let revision = 100;
  let compacted = 0;
  /** How far the server's cache of a kind has come: bookmarks tell only of that. */
  const cached = new Map<string, number>();

  const cluster = {
    /** How a position that is too old is refused. */
    goneForm: 'status' as 'status' | 'event',
    /** Each takes the place of one answer to a watch. */
    watchFaults: [] as (() => Promise<Readable>)[],
    /** Each takes the place of one answer to a list. */
    listFaults: [] as (() => never)[],
    watches: [] as { resourceVersion: string; timeoutSeconds: number; at: number }[],
    lists: [] as { plural: string; at: number }[],
    install: (kind: Kind) => installed.add(kind.plural),
    revision: () => String(revision),

    apply(kind: Kind, object: Stored): Stored {
      revision += 1;
      const key = `${kind.plural}/${object.metadata.name}`;
      const before = objects.get(key)?.metadata;
      const uid = before?.['uid'] ?? `uid-${revision}`;
      const metadata = {
        namespace: 'default',
        uid,
        ...object.metadata,
        resourceVersion: String(revision),
      };
      const stored = { ...object, metadata };
      objects.set(key, stored);
      publish({
        plural: kind.plural,
        revision,
        type: before ? 'MODIFIED' : 'ADDED',
        object: stored,
      });
      return stored;
    },
    remove(kind: Kind, name: string): void {
      const key = `${kind.plural}/${name}`;
      const gone = objects.get(key);
      if (!gone) throw new Error(`no ${key}`);
      objects.delete(key);
      revision += 1;
      const object = { ...gone, metadata: { ...gone.metadata, resourceVersion: String(revision) } };
      publish({ plural: kind.plural, revision, type: 'DELETED', object });
    },
    /** An object as no API server should send it, in the list and on the streams. */
    applyRaw(kind: Kind, key: string, object: unknown): void {
      revision += 1;
      objects.set(`${kind.plural}/${key}`, object as Stored);
      publish({ plural: kind.plural, revision, type: 'ADDED', object: object as Stored });
    },
    /** Positions before now are gone. */
    compact(): void {
      revision += 1;
      compacted = revision;
    },
    write(kind: Kind, text: string): void {
      for (const one of streams) if (one.plural === kind.plural) one.stream.write(text);
    },
    endStreams(): void {
      for (const one of streams) one.stream.end();
    },
    kube: undefined as unknown as KubeClient,
  };

  const publish = (entry: Entry) => {
    history.push(entry);
    cached.set(entry.plural, entry.revision);
    for (const one of streams) if (entry.revision > one.from) send(one, entry);
  };
  const send = ({ plural, selector, stream }: OpenStream, entry: Entry) => {
    if (entry.plural !== plural || !matches(entry.object, selector)) return;
    stream.write(`${JSON.stringify({ type: entry.type, object: entry.object })}\n`);
  };
  const live = (kind: Kind) => {
    if (installed.has(kind.plural)) return;
    throw new KubeApiError(404, 'NotFound', 'the server could not find the requested resource');
  };

  const list = async (kind: Kind, options: ListOptions) => {
    cluster.lists.push({ plural: kind.plural, at: clock.now() });
    cluster.listFaults.shift()?.();
    live(kind);
    cached.set(kind.plural, revision);
    const all = [...objects]
      .filter(
        ([key, one]) => key.startsWith(`${kind.plural}/`) && matches(one, options.labelSelector),
      )
      .map(([, one]) => one);
    const start = Number(options.continue ?? 0);
    const end = start + options.limit;
    return {
      resourceVersion: String(revision),
      items: all.slice(start, end),
      ...(end < all.length && { continue: String(end) }),
    };
  };
  const watch: KubeClient['watch'] = async (kind, options) => {
    const { resourceVersion, timeoutSeconds, labelSelector: selector } = options;
    cluster.watches.push({ resourceVersion, timeoutSeconds, at: clock.now() });
    const fault = cluster.watchFaults.shift();
    if (fault) return fault();
    live(kind);
    const stream = new PassThrough();
    if (Number(resourceVersion) < compacted) return refuseGone(cluster.goneForm, stream);
    const open = { plural: kind.plural, selector, stream, from: Number(resourceVersion) };
    streams.add(open);
    const closed = new AbortController();
    stream.once('close', () => {
      streams.delete(open);
      closed.abort();
    });
    for (const entry of history) if (entry.revision > Number(resourceVersion)) send(open, entry);
    void serve(open, timeoutSeconds, closed.signal).catch(() => undefined);
    return stream;
  };
  const serve = async (
    { plural, from, stream }: OpenStream,
    seconds: number,
    signal: AbortSignal,
  ) => {
    const end = clock.now() + seconds * 1000;
    while (clock.now() < end) {
      await clock.sleep(Math.min(BOOKMARK_MILLISECONDS, end - clock.now()), signal);
      if (stream.writableEnded) return;
      const reached = cached.get(plural) ?? 0;
      if (reached > from) stream.write(bookmark(String(reached)));
    }
    stream.end();
  };
  const unused = () => Promise.reject(new Error('a watcher only lists and watches'));
  cluster.kube = {
    list,
    watch,
    get: unused,
    apply: unused,
    mergePatch: unused,
    create: unused,
    delete: unused,
    serverVersion: unused,
  };
  return cluster;
}

export type MemoryCluster = ReturnType<typeof createMemoryCluster>;

export const bookmark = (resourceVersion: string): string =>
  `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })}\n`;

function refuseGone(form: 'status' | 'event', stream: PassThrough): Readable {
  if (form === 'status') throw new KubeApiError(410, 'Expired', 'too old resource version');
  stream.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, reason: 'Expired' } })}\n`);
  return stream;
}

function matches(object: Stored, selector: string | undefined): boolean {
  if (selector === undefined) return true;
  const [label = '', value] = selector.split('=');
  return object.metadata.labels?.[label] === value;
}
