import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watches } from '../../functions/helm/generated/watches.ts';
import { operators } from '../../functions/operators.ts';
import { type Bundle, bundle, bundleAll, bundleNamesOf } from '../../infra/bundle.ts';
import { ledgerProblems, readLedger } from '../../infra/bundle-ledger.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'podless-bundles-'));
const names = bundleNamesOf(operators);
let bundles: readonly Bundle[] = [];

beforeAll(async () => {
  bundles = await bundleAll(names, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** By path in the bundle. */
const filesOf = (name: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(folder, name, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, name, path), 'utf8')]),
  );
const isChart = (path: string): boolean => path.startsWith('charts/');

test('every bundle is within its budget and holds what was agreed', () => {
  // After a change that is meant: node infra/bundles.ts --update
  expect(ledgerProblems(bundles, readLedger())).toEqual([]);
});

test('no budget allows a megabyte', () => {
  for (const { budgetKilobytes } of Object.values(readLedger())) {
    expect(budgetKilobytes).toBeLessThanOrEqual(900);
  }
});

describe.each(names)('the bundle of %s', (name) => {
  test('exports its handler from index.mjs', () => {
    expect(filesOf(name).get('index.mjs')).toMatch(/export\{[\w$]+ as handler\}/);
  });

  test('has source maps that name sources and do not hold them', () => {
    const files = filesOf(name);
    const code = [...files.keys()].filter((file) => file.endsWith('.mjs'));
    for (const file of code) {
      const map = JSON.parse(files.get(`${file}.map`) ?? '{}') as Record<string, unknown>;
      expect(map['sources']).toBeInstanceOf(Array);
      expect(map).not.toHaveProperty('sourcesContent');
    }
    expect([...files.keys()].filter((file) => !isChart(file))).toHaveLength(2 * code.length);
  });

  test('needs nothing but what Node has', () => {
    const text = readFileSync(join(folder, `${name}.meta.json`), 'utf8');
    const { outputs } = JSON.parse(text) as Metafile;
    const external = Object.values(outputs)
      .flatMap(({ imports }) => imports)
      .filter((one) => one.external === true);
    for (const { path } of external) expect(path).toMatch(builtin);
  });
});

test('the bundle of helm carries the charts, and no other does', () => {
  const carrying = names.filter((name) => [...filesOf(name).keys()].some(isChart));
  expect(carrying).toEqual(['helm']);
  const files = filesOf('helm');
  for (const { chart } of watches) {
    const path = `${chart}/Chart.yaml`;
    expect(files.get(path)).toBe(readFileSync(join(root, path), 'utf8'));
  }
});

test.each(['watcher', 'helm'])(
  'the same sources give the same bytes of %s, so that nothing is deployed twice',
  async (name) => {
    const before = filesOf(name);
    rmSync(join(folder, name), { recursive: true });
    await bundle({ name, folder });
    expect(filesOf(name)).toEqual(before);
  },
);

test('a file that is no longer made is removed, with the folders it was in', async () => {
  const before = [...filesOf('helm').keys()];
  writeFileSync(join(folder, 'helm', 'chunk-OLD.mjs'), '');
  mkdirSync(join(folder, 'helm', 'charts', 'old', 'templates'), { recursive: true });
  writeFileSync(join(folder, 'helm', 'charts', 'old', 'templates', 'x.yaml'), '');
  await bundle({ name: 'helm', folder });
  expect([...filesOf('helm').keys()]).toEqual(before);
  expect(readdirSync(join(folder, 'helm', 'charts'))).not.toContain('old');
});

describe('the ledger', () => {
  const ledger = { a: { budgetKilobytes: 1, contents: ['podless', 'x'] } };

  test.each([
    [
      'weighs too much',
      { name: 'a', bytes: 1001, contents: ['podless', 'x'] },
      'a is 1001 bytes, its budget is 1 kB',
    ],
    [
      'holds more',
      { name: 'a', bytes: 1000, contents: ['podless', 'x', 'y'] },
      'a holds y, which bundles.json does not list',
    ],
    [
      'holds less',
      { name: 'a', bytes: 1000, contents: ['podless'] },
      'a does not hold x, which bundles.json lists',
    ],
  ])('tells that a bundle %s', (_, bundle, problem) => {
    expect(ledgerProblems([bundle], ledger)).toEqual([problem]);
  });

  test('tells of bundles it does not know, and of entries without a bundle', () => {
    expect(ledgerProblems([{ name: 'b', bytes: 1, contents: [] }], ledger)).toEqual([
      'b is not in bundles.json',
      'a is in bundles.json, but there is no such bundle',
    ]);
  });
});

const builtin = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`);
