import type { Clock } from '../../runtime/clock.ts';
import type { Preview } from '../../runtime/preview.ts';
import { type Place, parsePlace } from './spec.ts';
import type { PartitionTable, TableKeys } from './table.ts';

/** Describes a table while the object that names it is still being read. */
export interface EarlyDescription {
  begin(preview: Preview, signal: AbortSignal): void;
  /** The table, whose description may be here already: an answer is used once, and soon or never. */
  usedBy(place: Place, table: PartitionTable): PartitionTable;
}

export interface EarlyDescriptionOptions {
  readonly clock: Clock;
  /** Throws where the endpoint is not allowed. */
  readonly openTable: (place: Place) => Pick<PartitionTable, 'describe'>;
}

/** A table may be replaced by one with other keys, but not while we connect to a cluster. */
const FRESH_MS = 5_000;

export function createEarlyDescription({
  clock,
  openTable,
}: EarlyDescriptionOptions): EarlyDescription {
  let early: { place: string; keys: Promise<TableKeys>; goodUntil: number } | undefined;

  const take = (place: Place): Promise<TableKeys> | undefined => {
    const found = early;
    early = undefined;
    const isGood = found?.place === keyOf(place) && clock.now() <= found.goodUntil;
    return isGood ? found.keys : undefined;
  };

  return {
    begin(preview, signal) {
      const place = placeIn(preview);
      if (!place) return;
      try {
        const keys = openTable(place).describe(signal);
        // If nobody takes it, it was not needed.
        keys.catch(() => {});
        early = { place: keyOf(place), keys, goodUntil: clock.now() + FRESH_MS };
      } catch {
        // Whatever is wrong with the place, the object's own status will tell.
      }
    },
    usedBy: (place, table) => ({
      ...table,
      // A failure is not the last word: a function may have been frozen while it asked.
      describe: (signal) =>
        take(place)?.catch(() => table.describe(signal)) ?? table.describe(signal),
    }),
  };
}

/** By the rules of the spec: what breaks them is not asked anywhere. */
function placeIn(preview: Preview): Place | undefined {
  const placeUnder = (path: string) =>
    parsePlace({
      tableName: preview[`${path}.tableName`],
      awsRegion: preview[`${path}.awsRegion`],
      endpointURL: preview[`${path}.endpointURL`],
    });
  return placeUnder('spec.ddbCtlDpJob') ?? placeUnder('spec');
}

const keyOf = ({ tableName, awsRegion, endpointURL = '' }: Place): string =>
  [tableName, awsRegion, endpointURL].join(' ');
