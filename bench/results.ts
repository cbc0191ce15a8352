import { type Figure, type Verdict, verdictOn } from './figures.ts';
import type { PartResult } from './part.ts';
import type { Machine } from './report/machine.ts';
import { summarize } from './statistics.ts';

/** Everything one call of the bench has found. */
export interface Results {
  /** A day: `2026-11-16`. */
  readonly date: string;
  readonly full: boolean;
  readonly machine: Machine;
  readonly seconds: number;
  readonly parts: readonly (PartResult & { readonly name: string })[];
}

export const figuresIn = ({ parts }: Results): readonly Figure[] =>
  parts.flatMap(({ figures }) => figures);

export const missedIn = (results: Results): readonly Figure[] =>
  figuresIn(results).filter((figure) => verdictOn(figure) === 'missed');

export const verdictWords: Readonly<Record<Verdict, string>> = {
  reached: 'reached',
  withinNoise: 'within noise',
  missed: 'MISSED',
  reported: '',
};

/** For programs: the same as the tables say. */
export const toJson = (results: Results): object => ({
  ...results,
  parts: results.parts.map(({ name, figures, tables }) => ({
    name,
    figures: figures.map((figure) => ({
      ...figure,
      ...summarize(figure.samples),
      verdict: verdictOn(figure),
    })),
    tables,
  })),
});
