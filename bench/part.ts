import type { Bench } from './bench.ts';
import type { Figure } from './figures.ts';
import type { Timetable } from './proxy/timetable.ts';

/** A group of figures that are measured together; `npm run bench -- <name>` runs it alone. */
export interface Part {
  readonly name: string;
  /** For --help. */
  readonly about: string;
  run(bench: Bench): Promise<PartResult>;
}

export interface PartResult {
  readonly figures: readonly Figure[];
  readonly tables: readonly ResultTable[];
  readonly chart?: Chart;
}

export interface ResultTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader should know of how it came about. */
  readonly note?: string;
}

export type Chart =
  | { readonly kind: 'bars'; readonly title: string; readonly bars: readonly Bar[] }
  | {
      readonly kind: 'timeline';
      readonly title: string;
      readonly cap: Timetable;
      readonly lines: readonly Line[];
    };

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export interface Line {
  readonly name: string;
  /** Units in each quarter of a second. */
  readonly timeline: readonly number[];
}
