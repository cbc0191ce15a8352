import { describe, expect, it } from 'vitest';
import { atLeast, atMost, type Figure, verdictOn } from '../../bench/figures.ts';
import { toMarkdown } from '../../bench/report/markdown.ts';
import { toSvg } from '../../bench/report/plot.ts';
import { figureTable, tableText } from '../../bench/report/text.ts';
import { missedIn, type Results } from '../../bench/results.ts';
import { percentile } from '../../bench/statistics.ts';

const figure = (name: string, samples: readonly number[], goal = atLeast(0.9)): Figure => ({
  name,
  unit: 'percent',
  goal,
  samples,
});
const cap = [
  { fromSecond: 0, unitsPerSecond: 1_000 },
  { fromSecond: 10, unitsPerSecond: 300 },
];
const results: Results = {
  date: '2026-11-16',
  full: false,
  seconds: 600,
  machine: {
    system: 'linux',
    cores: 2,
    processor: 'p',
    memoryGigabytes: 8,
    node: '24',
    java: '17',
    packages: { 'a-peer': '1.2.3' },
  },
  parts: [
    {
      name: 'one',
      figures: [figure('share', [0.91, 0.95]), figure('shortfall', [0.5, 0.6, 0.7])],
      tables: [{ title: 'A table', columns: ['', 'n'], rows: [['a', '1,000']], note: 'A note.' }],
      chart: { kind: 'bars', title: 'Bars', bars: [{ name: 'podless', value: 5, min: 4, max: 6 }] },
    },
    {
      name: 'two',
      figures: [],
      tables: [],
      chart: {
        kind: 'timeline',
        title: 'A & B < C',
        cap,
        lines: [{ name: 'podless', timeline: Array.from({ length: 60 }, () => 250) }],
      },
    },
  ],
};

describe('a figure', () => {
  it.each([
    { goal: atLeast(0.9), samples: [0.89, 0.91, 0.92], verdict: 'reached' },
    { goal: atLeast(0.9), samples: [0.8, 0.85, 0.91], verdict: 'withinNoise' },
    { goal: atLeast(0.9), samples: [0.8, 0.85, 0.89], verdict: 'missed' },
    { goal: atMost(2), samples: [1.5, 2.1, 3], verdict: 'withinNoise' },
    { goal: atMost(2), samples: [2.1, 2.2, 3], verdict: 'missed' },
    { goal: atMost(0), samples: [0], verdict: 'reached' },
  ])('of $samples with the goal $goal.relation $goal.value is $verdict', (one) => {
    expect(verdictOn(figure('any', one.samples, one.goal))).toBe(one.verdict);
  });

  it('without a goal is only reported', () => {
    expect(verdictOn({ name: 'any', unit: 'count', samples: [1] })).toBe('reported');
  });
});

describe('the report', () => {
  it('takes percentiles between samples', () => {
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(percentile([4, 1, 3, 2], 1)).toBe(4);
  });

  it('names what was missed, and only that', () => {
    expect(missedIn(results).map(({ name }) => name)).toEqual(['shortfall']);
  });

  it('says in the table what must be reached, what was got, and its ends', () => {
    expect(tableText(figureTable(results))).toMatch(
      /shortfall +≥ 90\.0 % +60\.0 % +50\.0 % to 70\.0 % +MISSED/,
    );
  });

  it('has every figure and table on the page', () => {
    const page = toMarkdown(results);
    for (const part of [
      '| shortfall |',
      '### A table',
      '| a | 1,000 |',
      'A note.',
      '2 cores',
      'a-peer 1.2.3',
    ])
      expect(page).toContain(part);
  });

  it('draws every chart inside its frame', () => {
    const svg = toSvg(results);
    const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number);
    const coordinates = (names: string) =>
      [...svg.matchAll(new RegExp(`\\s(?:${names})="(-?[\\d.]+|[^"]*)"`, 'g'))].map(([, at]) =>
        Number(at),
      );
    const paths = [...svg.matchAll(/d="M([^"Z]*)/g)].flatMap(([, path = '']) =>
      path.split('L').map((point) => point.split(' ').map(Number)),
    );
    const xs = [...coordinates('x|x1|x2'), ...paths.map(([x = Number.NaN]) => x)];
    const ys = [...coordinates('y|y1|y2'), ...paths.map(([, y = Number.NaN]) => y)];
    expect(xs.length).toBeGreaterThan(20);
    expect(xs.filter((x) => !(x >= 0 && x <= width))).toEqual([]);
    expect(ys.filter((y) => !(y >= 0 && y <= height))).toEqual([]);
    expect(svg).toContain('A &amp; B &lt; C');
  });
});
