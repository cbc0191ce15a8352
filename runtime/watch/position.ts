import type { KubeClient } from '../kube/client.ts';
import type { WatchSession } from './session.ts';
import { within } from './within.ts';

/**
 * Where a watch that sees every change from now on starts. Asking has a second use: the API server sends bookmarks only
 * once its cache is past the position a stream started at, and in a kind without changes a consistent list is what
 * moves the cache. Without it such a stream would stay silent (seen with 1.36).
 */
export async function newestResourceVersion(session: WatchSession): Promise<string> {
  const { source, signal } = session;
  const { resourceVersion } = await impatient(session).list(source.kind, {
    limit: 1,
    ...(source.labelSelector !== undefined && { labelSelector: source.labelSelector }),
    signal,
  });
  if (resourceVersion !== '') return resourceVersion;
  throw new Error('metadata.resourceVersion of a list must be a non-empty string, got ""');
}

/**
 * True for a position that the cluster has not reached, as after a restored backup: a watch from there is not refused,
 * it brings nothing, without a word (seen with 1.36).
 */
export function isAfter(position: string, newest: string): boolean {
  const comparable = /^\d+$/.test(position) && /^\d+$/.test(newest);
  return comparable && BigInt(position) > BigInt(newest);
}

/** A list that is never answered is a dead connection like a silent stream. */
export function impatient({ kube, clock, settings }: WatchSession): Pick<KubeClient, 'list'> {
  const limit = { clock, milliseconds: settings.silenceMilliseconds };
  return {
    list: (kind, options) =>
      within(kube.list(kind, options), {
        ...limit,
        ...(options.signal && { signal: options.signal }),
      }),
  };
}
