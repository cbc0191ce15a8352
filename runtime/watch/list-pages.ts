import { isKubeStatus, type KubeClient, type ListOptions, type ListPage } from '../kube/client.ts';
import type { Kind } from '../operator.ts';

/** A list that expires this often in a row is too slow to ever finish. */
const MAX_RESTARTS = 3;

/**
 * The pages of one list. No resourceVersion is asked for, so it is consistent. A continue token that has expired (410)
 * starts the list again, so an object may come twice.
 */
export async function* listPages(
  kube: Pick<KubeClient, 'list'>,
  kind: Kind,
  options: Omit<ListOptions, 'continue'>,
): AsyncGenerator<ListPage> {
  let next: string | undefined;
  let restarts = 0;
  for (;;) {
    const page = await pageOrExpired(kube, kind, { ...options, ...(next && { continue: next }) });
    if (page instanceof Error) {
      restarts += 1;
      if (restarts > MAX_RESTARTS) throw page;
      next = undefined;
      continue;
    }
    yield page;
    if (!page.continue) return;
    next = page.continue;
  }
}

async function pageOrExpired(
  kube: Pick<KubeClient, 'list'>,
  kind: Kind,
  options: ListOptions,
): Promise<ListPage | Error> {
  try {
    return await kube.list(kind, options);
  } catch (error) {
    if (options.continue !== undefined && isKubeStatus(error, 410)) return error;
    throw error;
  }
}
