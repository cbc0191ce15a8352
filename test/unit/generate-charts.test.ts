import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateCharts } from '../../local/generate/charts.ts';
import { generateManifests } from '../../local/generate/manifests.ts';
import { createOutput } from '../../local/generate/output.ts';

let root: string;

const write = (path: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const LIST = 'functions/helm/generated/watches.ts';
const CRD = 'crds/charts.example.com_shops.yaml';
const entry = (kind: string, chart: string): string =>
  `- {group: charts.example.com, version: v1, kind: ${kind}, chart: ${chart}}\n`;
const schema = JSON.stringify({ type: 'object', properties: { size: { type: 'integer' } } });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'podless-generate-'));
  write('functions/helm/watches.yaml', entry('Shop', 'charts/shop'));
  write('functions/goop/operator.ts', '');
  write('charts/shop/Chart.yaml', 'name: shop\n');
  write('charts/shop/values.schema.json', schema);
  mkdirSync(join(root, 'crds/samples'), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true }));

async function generate(check = false): Promise<readonly string[]> {
  const output = createOutput(root, check);
  await generateCharts(root, output);
  generateManifests(root, [], output);
  return output.stale;
}

const specIn = (path: string): unknown =>
  parse(read(path)).spec.versions[0].schema.openAPIV3Schema.properties.spec;

describe('generating from watches.yaml', () => {
  test('writes the list, the CRD and what kubectl applies, and then nothing', async () => {
    const stale = await generate();
    expect(stale).toEqual([LIST, CRD, 'crds/rbac.yaml', 'crds/kustomization.yaml']);
    expect(read(LIST)).toContain('"plural": "shops"');
    expect(specIn(CRD)).toMatchObject({ properties: { size: { type: 'integer' } } });
    expect(parse(read('crds/kustomization.yaml'))).toMatchObject({
      resources: ['charts.example.com_shops.yaml', 'rbac.yaml'],
    });
    expect(await generate()).toEqual([]);
  });

  test('follows the chart and the list: a kind that is gone takes its CRD along', async () => {
    await generate();
    write('charts/shop/values.schema.json', schema.replace('integer', 'string'));
    expect(await generate()).toEqual([CRD]);
    write('functions/helm/watches.yaml', entry('Store', 'charts/shop'));
    expect(await generate()).toContain('crds/charts.example.com_stores.yaml');
    expect(existsSync(join(root, CRD))).toBe(false);
    expect(read('crds/kustomization.yaml')).not.toContain('shops');
  });

  test('leaves a CRD alone that a person wrote, also if it is no longer in the list', async () => {
    write(CRD, '# mine\nkind: CustomResourceDefinition\n');
    await generate();
    write('functions/helm/watches.yaml', '');
    await generate();
    expect(read(CRD)).toBe('# mine\nkind: CustomResourceDefinition\n');
  });

  test('only looks if it is told to', async () => {
    expect(await generate(true)).toContain(LIST);
    expect(existsSync(join(root, LIST))).toBe(false);
    expect(existsSync(join(root, CRD))).toBe(false);
  });

  test('writes nothing if the list has a mistake', async () => {
    write('functions/helm/watches.yaml', entry('Goop', 'charts/shop'));
    await expect(generate()).rejects.toThrow(
      'entry 1 (Goop): kind must not be the name of another function, got Goop',
    );
    expect(existsSync(join(root, LIST))).toBe(false);
  });

  test('tells which chart has a schema that cannot be read', async () => {
    write('charts/shop/values.schema.json', '{');
    await expect(generate()).rejects.toThrow(/^charts\/shop: values.schema.json cannot be read: /);
  });

  test('reads archives as it reads folders', async () => {
    const archive = pack();
    archive.entry({ name: 'shop/Chart.yaml' }, 'name: shop\n');
    archive.entry({ name: 'shop/charts/inner/values.schema.json' }, '{"required": ["wrong"]}');
    archive.entry({ name: 'shop/values.yaml' }, 'size: 1\n');
    archive.entry({ name: 'shop/values.schema.json' }, schema);
    archive.finalize();
    write('charts/shop-1.0.0.tgz', gzipSync(await buffer(archive)));
    write('functions/helm/watches.yaml', entry('Shop', 'charts/shop-1.0.0.tgz'));
    await generate();
    expect(specIn(CRD)).toEqual({
      description: 'The values of the chart.',
      type: 'object',
      properties: { size: { type: 'integer', nullable: true } },
      'x-kubernetes-preserve-unknown-fields': true,
    });
    write('charts/shop-1.0.0.tgz', 'not an archive');
    await expect(generate()).rejects.toThrow(/shop-1.0.0.tgz must be a gzipped tar archive: /);
  });

  test('does not ask the user for what watches.yaml sets', async () => {
    write(
      'charts/shop/values.schema.json',
      '{"required": ["owner", "size"], "properties": {"size": {}}}',
    );
    await generate();
    expect(specIn(CRD)).toMatchObject({ required: ['owner', 'size'] });
    const list = entry('Shop', 'charts/shop').replace('}', ', overrideValues: {size: 3}}');
    write('functions/helm/watches.yaml', list);
    await generate();
    expect(specIn(CRD)).toMatchObject({ required: ['owner'] });
  });

  test('makes a free-form CRD for a chart without a schema', async () => {
    rmSync(join(root, 'charts/shop/values.schema.json'));
    await generate();
    expect(specIn(CRD)).toEqual({
      description: 'The values of the chart.',
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });
});
