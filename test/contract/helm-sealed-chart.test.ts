import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveHelm } from '../../local/helm-binary.ts';
import { createHelm, type Helm } from '../../runtime/helm/helm-command.ts';
import type { ManifestBody } from '../../runtime/helm/manifest.ts';
import { parseManifest } from '../../runtime/helm/manifest-yaml.ts';
import { sealed, sealedChart } from '../../runtime/helm/sealed-chart.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import { createTestChart, type TestChart } from '../helpers/helm-chart.ts';

let helm: Helm;
let echo: TestChart;

beforeAll(async () => {
  helm = createHelm({ path: await resolveHelm() });
  // Shows what Helm's own parser has read.
  echo = await createTestChart({
    'templates/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nread: {{ toJson .Values | quote }}\n',
  });
});

afterAll(() => echo?.remove());

const configMap = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' };

/** What comes out of Helm for a chart of these objects. */
async function throughHelm(bodies: readonly ManifestBody[]): Promise<readonly unknown[]> {
  const objects = bodies.map((body) => ({
    ref: { kind: configMap, namespace: 'default', name: body.metadata.name },
    body,
  }));
  const chart = sealedChart({ name: 'sealed', version: '1.0.0' }, objects);
  const files = new Map([...chart].map(([path, text]) => [`chart/${path}`, text]));
  const { stdout, stderr } = await helm({
    args: ['template', 'r', 'chart'],
    files,
    limitMilliseconds: 30_000,
  });
  expect(stderr).toBe('');
  return parseManifest(stdout).map(({ value }) => value);
}

const bodyOf = (index: number, payload: unknown): ManifestBody => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `object-${String(index).padStart(4, '0')}` },
  payload,
});

describe('a sealed chart', () => {
  test('comes out of Helm as it went in, whatever it holds', async () => {
    const nasty = fc.constantFrom(
      ...[
        '{{ .Values }}',
        '{{{{',
        '}}',
        '{{/* */}}',
        '{{',
        '\n---\n',
        '# Source: x',
        '%YAML',
        '&a',
        '*a',
        '!!x',
        'yes',
        '0644',
        '\u0085',
        '\u2028',
        '\uFEFF',
        '\uFFFF',
        '\u0000',
        '\u007F',
        '😀',
        '- a: b',
        '`',
        '"',
      ],
    );
    const text = fc.oneof(
      nasty,
      fc.string({ unit: 'binary' }),
      fc.array(nasty).map((parts) => parts.join('')),
    );
    const payload = fc.jsonValue({ depthSize: 'small', stringUnit: 'binary' });
    const one = fc.record({ payload, texts: fc.dictionary(text, text, { noNullPrototype: true }) });
    // Larger whole numbers are refused, since they could not be kept.
    const small = one.filter((sample) => !/\d{16}/.test(JSON.stringify(sample)));
    const samples = fc.sample(small, { numRuns: 300, seed: 4711 });
    const bodies = samples.map((sample, index) => bodyOf(index, JSON.parse(sealed(sample))));
    const back = await throughHelm(bodies);
    const byName = new Map(back.map((body) => [(body as ManifestBody).metadata.name, body]));
    expect(byName.size).toBe(bodies.length);
    for (const body of bodies) expect(byName.get(body.metadata.name)).toEqual(body);
  });

  test('has no template in it that Helm would evaluate', async () => {
    const body = bodyOf(0, { a: '{{ fail "evaluated" }}', '{{ fail "key" }}': '{{{{' });
    expect(await throughHelm([body])).toEqual([body]);
  });
});

test('YAML is read as Helm’s own parser reads it', async () => {
  const digits = fc.string({
    unit: fc.constantFrom(...'0123456789_.eExXobB+-:'.split('')),
    maxLength: 8,
  });
  const words = fc.constantFrom(...['yes', 'No', 'on', 'OFF', 'y', 'n', 'True', 'null', '~', '']);
  const letters = fc.string({ unit: fc.constantFrom(...'abcdefyYnN '.split('')), maxLength: 6 });
  const samples = fc.sample(fc.oneof(digits, words, letters), { numRuns: 1_500, seed: 4711 });
  // What would be something else than a plain scalar in YAML.
  const plain = samples
    .map((text) => text.trim())
    .filter((text) => !/^[-?:](\s|$)|:(\s|$)|^-{3}|^\.{3}|^[-+]?\.(inf|nan)/i.test(text))
    .filter((text) => !/\d{16}|[\da-f]{14}/.test(text));
  const yaml = plain.map((text, index) => `k${index}: ${text}\n`).join('');
  const { stdout, stderr } = await helm({
    args: ['template', 'r', echo.folder, '--values', 'values.yaml'],
    files: new Map([['values.yaml', yaml]]),
    limitMilliseconds: 30_000,
  });
  expect(stderr).toBe('');
  const { read } = firstOf(stdout);
  const theirs = JSON.parse(String(read)) as Record<string, unknown>;
  const ours = firstOf(yaml);
  for (const [index, text] of plain.entries()) {
    const key = `k${index}`;
    expect([text, ours[key] ?? null]).toEqual([text, theirs[key] ?? null]);
  }
});

function firstOf(text: string): Readonly<Record<string, unknown>> {
  const [document] = parseManifest(text);
  if (!isRecord(document?.value)) throw new Error('there must be a document with a map');
  return document.value;
}
