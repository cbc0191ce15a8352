import type { Outcome } from '../bench.ts';
import type { Figure, Unit } from '../figures.ts';
import { summarize } from '../statistics.ts';

export const number = (value: number): string => Math.round(value).toLocaleString('en');
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
export const ratio = (value: number): string => value.toFixed(2);
export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;
export const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`;

const units: Readonly<Record<Unit, (value: number) => string>> = {
  ratio: (value) => `${ratio(value)} ×`,
  percent,
  count: number,
  units: number,
  megabytes,
  kilobytes: (bytes) => `${Math.round(bytes / 1000)} KB`,
};

/** `12..15`; nothing where there was one round only. */
export function spread(samples: readonly number[], format: (value: number) => string): string {
  if (samples.length < 2) return '';
  const { min, max } = summarize(samples);
  return `${format(min)} to ${format(max)}`;
}

/** The cells of a figure: what it must reach, what it got, and the ends. */
export function figureCells({ unit, goal, samples }: Figure): readonly [string, string, string] {
  const format = units[unit];
  const wanted = goal ? `${goal.relation === 'at least' ? '≥' : '≤'} ${format(goal.value)}` : '';
  return [wanted, format(summarize(samples).median), spread(samples, format)];
}

/** Why a peer ended before the end, if it did. */
export function trouble(outcomes: readonly Outcome[]): string {
  const failures = outcomes.flatMap(({ result }) => result.failure ?? []);
  return failures[0] === undefined ? '' : `gave up: ${failures[0].slice(0, 60)}`;
}
