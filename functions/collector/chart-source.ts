import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import { unpackChart } from '../../runtime/helm/chart-archive.ts';
import {
  type ChartArchive,
  type ChartLocation,
  type ChartStore,
  locationText,
} from './chart-store.ts';

/** Which bytes a chart is made of. */
export interface ChartVersion {
  readonly etag: string;
  readonly digest: string;
}

export interface OpenedChart extends ChartVersion {
  /** Whether it was read from the store just now. */
  readonly isNew: boolean;
  /** Where it is unpacked. Only then is it read from the store, if it is not here. */
  readonly folder: () => Promise<string>;
}

/** Charts as they are in the store now. */
export interface ChartSource {
  /**
   * What the object was installed from is not read again while it is unchanged. For that the store is asked, but not several
   * times in a few seconds, and one that is away does not matter.
   */
  open(location: ChartLocation, options: OpenOptions): Promise<OpenedChart>;
}

export interface OpenOptions {
  /** From that place. */
  readonly installed?: ChartVersion | undefined;
  /** Somebody wants to know. Default false. */
  readonly askNow?: boolean;
  readonly signal?: AbortSignal;
}

export interface ChartSourceOptions {
  readonly store: ChartStore;
  readonly clock: Clock;
  /** For unpacked charts; made when the first one comes. Nobody else writes to it. */
  readonly folder: string;
}

interface Kept extends ChartVersion {
  /** Why it is no chart, or where it is unpacked; undefined: not here. */
  readonly content: TerminalError | string | undefined;
  readonly checkedAt: number;
}

/** A rollout makes many changes, and each of them a look. */
const ASK_AGAIN_MILLISECONDS = 10_000;
/** Of at most 50 MB each; a Lambda has 512 MB of disk. */
const MAX_KEPT = 6;

/** For one run at a time, as Lambda has it: a chart that is in use is never the one that goes. */
export function createChartSource({ store, clock, folder }: ChartSourceOptions): ChartSource {
  const kept = new Map<string, Kept>();
  let unpacked = 0;

  const unpack = async ({ bytes, digest, etag }: ChartArchive): Promise<Kept> => {
    unpacked += 1;
    const target = join(folder, String(unpacked));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const content = await unpackChart(bytes, target).then(() => target, refusalOf);
    return { etag, digest, content, checkedAt: clock.now() };
  };

  const forget = async (name: string): Promise<void> => {
    const content = kept.get(name)?.content;
    kept.delete(name);
    if (typeof content === 'string') await rm(content, { recursive: true, force: true });
  };

  /** The one asked for least recently goes. */
  const keep = async (location: ChartLocation, entry: Kept): Promise<Kept> => {
    const name = locationText(location);
    if (kept.get(name)?.content !== entry.content) await forget(name);
    kept.delete(name);
    kept.set(name, entry);
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) await forget(oldest);
    return entry;
  };

  const opened = (location: ChartLocation, entry: Kept, isNew = false): OpenedChart => {
    const { etag, digest, content } = entry;
    if (content instanceof TerminalError) throw content;
    let here = content === undefined ? undefined : Promise.resolve(content);
    const folderOf = () => {
      here ??= load(location, entry);
      return here;
    };
    return { etag, digest, isNew, folder: folderOf };
  };

  const load = async (location: ChartLocation, { digest }: ChartVersion): Promise<string> => {
    const answer = await store.fetch(location);
    if (answer === 'unchanged') throw new Error('an archive that nobody knows must be read');
    const { content, digest: found } = await keep(location, await unpack(answer));
    if (content instanceof TerminalError) throw content;
    if (content !== undefined && found === digest) return content;
    throw new TransientError('ChartChanged', `chart ${locationText(location)} has just changed`);
  };

  return {
    open: async (location, { installed, askNow = false, signal }) => {
      const here = kept.get(locationText(location));
      const known = here ?? (installed && { ...installed, content: undefined, checkedAt: 0 });
      const isInstalled = known !== undefined && known.etag === installed?.etag;
      const isFresh = isInstalled && clock.now() - known.checkedAt < ASK_AGAIN_MILLISECONDS;
      if (isFresh && !askNow) return opened(location, known);
      const answer = await store
        .fetch({ ...location, knownEtag: known?.etag }, signal)
        .catch((error: unknown) => {
          if (isInstalled && isAway(error)) return 'unchanged' as const;
          throw error;
        });
      if (answer !== 'unchanged')
        return opened(location, await keep(location, await unpack(answer)), true);
      if (!known) throw new Error('an archive that nobody knows must be read');
      return opened(location, await keep(location, { ...known, checkedAt: clock.now() }));
    },
  };
}

/** Kept as well: bytes that are no chart are not read again and again. */
function refusalOf(error: unknown): TerminalError {
  if (error instanceof TerminalError) return error;
  throw error;
}

const isAway = (error: unknown): boolean =>
  error instanceof TransientError && error.reason === 'ChartStoreUnavailable';
