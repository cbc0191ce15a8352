import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { type Bundle, bundle, bundleAll, bundleNamesOf } from '../../infra/bundle.ts';
import { ledgerProblems, readLedger } from '../../infra/bundle-ledger.ts';

const folder = mkdtempSync(join(tmpdir(), 'podless-bundles-'));
const names = bundleNamesOf(operators);
let bundles: readonly Bundle[] = [];

beforeAll(async () => {
  bundles = await bundleAll(names, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const filesOf = (name: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(folder, name)).map((file) => [
      file,
      readFileSync(join(folder, name, file), 'utf8'),
    ]),
  );

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
    expect(filesOf(name).get('index.mjs')).toMatch(/export\{\w+ as handler\}/);
  });

  test('has source maps that name sources and do not hold them', () => {
    const files = filesOf(name);
    const code = [...files.keys()].filter((file) => file.endsWith('.mjs'));
    for (const file of code) {
      const map = JSON.parse(files.get(`${file}.map`) ?? '{}') as Record<string, unknown>;
      expect(map['sources']).toBeInstanceOf(Array);
      expect(map).not.toHaveProperty('sourcesContent');
    }
    expect(files.size).toBe(2 * code.length);
  });

  test('needs nothing but what Node has', () => {
    const text = readFileSync(join(folder, `${name}.meta.json`), 'utf8');
    const { outputs } = JSON.parse(text) as Metafile;
    const external = Object.values(outputs)
      .flatMap(({ imports }) => imports)
      .filter((one) => one.external === true);
    for (const { path, kind } of external) {
      // A require would need a createRequire, which a module does not have.
      expect([path, kind]).toEqual([
        expect.stringMatching(builtin),
        expect.not.stringMatching(/require/),
      ]);
    }
  });
});

test('the same sources give the same bytes, so that nothing is deployed twice', async () => {
  const [name = ''] = names;
  const before = filesOf(name);
  rmSync(join(folder, name), { recursive: true });
  await bundle({ name, folder });
  expect(filesOf(name)).toEqual(before);
});

test('a file that is no longer made is removed', async () => {
  const [name = ''] = names;
  const before = [...filesOf(name).keys()];
  writeFileSync(join(folder, name, 'chunk-OLD.mjs'), '');
  await bundle({ name, folder });
  expect([...filesOf(name).keys()]).toEqual(before);
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
