import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { pluralOf } from '../../local/watches/plural.ts';
import { parseWatches } from '../../local/watches.ts';

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'podless-watches-'));
  mkdirSync(join(root, 'charts/shop'), { recursive: true });
  writeFileSync(join(root, 'charts/shop/Chart.yaml'), 'name: shop\n');
  mkdirSync(join(root, 'charts/empty'));
  mkdirSync(join(root, 'elsewhere'));
  writeFileSync(join(root, 'elsewhere/Chart.yaml'), 'name: elsewhere\n');
  symlinkSync(join(root, 'elsewhere'), join(root, 'charts/link'));
  writeFileSync(join(root, 'charts/packed-1.0.0.tgz'), 'whatever');
  writeFileSync(join(root, 'charts/packed.zip'), 'whatever');
});

afterAll(() => rmSync(root, { recursive: true }));

const shop = { group: 'charts.example.com', version: 'v1', kind: 'Shop', chart: 'charts/shop' };
const parse = (...entries: readonly unknown[]) =>
  parseWatches(stringify(entries), { root, taken: ['goop', 'watcher', 'resync'] });

function problemsOf(...entries: readonly unknown[]): readonly string[] {
  try {
    parse(...entries);
  } catch (error) {
    const [head, ...problems] = (error as Error).message.split('\n');
    expect(head).toBe('functions/helm/watches.yaml must be corrected:');
    return problems.map((problem) => problem.trim());
  }
  return [];
}

describe('an entry of watches.yaml', () => {
  test('needs a kind and a chart, and no more', () => {
    expect(parse(shop)).toEqual([{ ...shop, plural: 'shops' }]);
    expect(parse({ ...shop, chart: 'charts/packed-1.0.0.tgz', plural: 'shoppes' })).toMatchObject([
      { chart: 'charts/packed-1.0.0.tgz', plural: 'shoppes' },
    ]);
    expect(parse({ ...shop, chart: 'charts/shop/' })).toMatchObject([{ chart: 'charts/shop' }]);
  });

  test('may have values that win, a selector, fewer kinds, and more', () => {
    const binding = {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      kind: 'RoleBinding',
      plural: 'rolebindings',
      scope: 'Namespaced',
    };
    const [watch] = parse({
      ...shop,
      overrideValues: { 'image.tag': '1.2', replicas: 3, debug: false, price: '5 $' },
      selector: { matchLabels: { tier: 'gold', 'example.com/team': '' } },
      kinds: ['Deployment', 'Service', 'Service'],
      extraKinds: [binding, { group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' }],
      watchDependentResources: true,
    });
    expect(watch).toEqual({
      ...shop,
      plural: 'shops',
      overrideValues: { 'image.tag': '1.2', replicas: 3, debug: false, price: '5 $' },
      selector: { matchLabels: { tier: 'gold', 'example.com/team': '' } },
      kinds: ['Deployment', 'Service'],
      extraKinds: [
        binding,
        { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' },
      ],
    });
  });

  test.each([
    [{ group: 'example' }, 'group must be a domain such as charts.example.com, got "example"'],
    [{ group: undefined }, 'group must be a domain such as charts.example.com, got nothing'],
    [{ group: 'x.k8s.io' }, 'group must not be one of Kubernetes itself, got "x.k8s.io"'],
    [{ version: 1 }, 'version must be a version such as v1alpha1, got 1'],
    [{ version: 'V1' }, 'version must be a version such as v1alpha1, got "V1"'],
    [{ plural: 'Shops' }, 'plural must be lower-case letters, digits and dashes, got "Shops"'],
    [{ chart: undefined }, 'chart must be the path of a chart in charts/, got nothing'],
    [{ chart: '../x' }, 'chart must be in charts/, without a way out of it, got "../x"'],
    [
      { chart: 'charts/../elsewhere' },
      'chart must be in charts/, without a way out of it, got "charts/../elsewhere"',
    ],
    [{ chart: '/etc' }, 'chart must be in charts/, without a way out of it, got "/etc"'],
    [{ chart: 'charts' }, 'chart must be in charts/, without a way out of it, got "charts"'],
    [{ chart: 'charts/nowhere' }, 'chart must exist, got "charts/nowhere"'],
    [{ chart: 'charts/empty' }, 'chart must have a Chart.yaml in it, got "charts/empty"'],
    [{ chart: 'charts/link' }, 'chart must not lead out of charts/ by a link, got "charts/link"'],
    [
      { chart: 'charts/packed.zip' },
      'chart must be a folder or a .tgz archive, got "charts/packed.zip"',
    ],
    [{ kinds: 'Deployment' }, 'kinds must be a list of kinds, got "Deployment"'],
    [
      { selector: { matchLabels: { a: 1 } } },
      'selector.matchLabels must be a map of labels to texts, got {"a":1}',
    ],
    [
      { overrideValues: { 'a..b': 'x' } },
      'overrideValues must have paths such as image.tag, got "a..b"',
    ],
    [
      { overrideValues: { a: { b: 1 } } },
      'overrideValues.a must be a text, number or boolean, got {"b":1}',
    ],
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as other helm operators write it
      { overrideValues: { image: '${IMAGE}' } },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as other helm operators write it
      'overrideValues.image must be the value itself, not a variable, got "${IMAGE}"',
    ],
    [
      { watchDependentResources: false },
      'watchDependentResources must be true: what a chart holds is always watched',
    ],
    [
      { reconcilePeriod: '1m' },
      'reconcilePeriod must be left out: changes are seen at once, and the resync looks at every object again',
    ],
    [{ extraKinds: {} }, 'extraKinds must be a list of maps, got {}'],
    [
      { extraKinds: [{ group: '', version: 'v1', kind: 'Namespace' }] },
      'extraKinds[0].scope must be Namespaced or Cluster, got nothing',
    ],
    [
      { extraKinds: [{ group: 'apps', version: 'v1', kind: 'Deployment', scope: 'Namespaced' }] },
      'extraKinds[0].kind must be another than the usual ones, got Deployment',
    ],
    [
      { extraKinds: [{ ...shop, chart: undefined, scope: 'Namespaced' }] },
      'extraKinds[0].kind must not be that of the entry itself, got Shop',
    ],
  ])('with %j is refused by name, value and what was expected', (change, problem) => {
    const [first, ...others] = problemsOf(JSON.parse(JSON.stringify({ ...shop, ...change })));
    expect(first).toBe(`entry 1 (Shop): ${problem}`);
    expect(others).toEqual([]);
  });

  test('with an unknown key is refused, with those that are known', () => {
    const [problem] = problemsOf({ ...shop, charts: 'x' });
    expect(problem).toMatch(
      /^entry 1 \(Shop\): charts is not known, must be one of group, .*chart/,
    );
    const [nested] = problemsOf({
      ...shop,
      selector: { matchExpressions: [], matchLabels: { a: 'b' } },
    });
    expect(nested).toBe(
      'entry 1 (Shop): selector.matchExpressions must be left out: only matchLabels are compared',
    );
    const [kinds] = problemsOf({ ...shop, kinds: ['ClusterRole'] });
    expect(kinds).toMatch(
      /kinds must be of ConfigMap, .* \(others go to extraKinds\), got "ClusterRole"$/,
    );
  });

  test('of a kind that cannot be the name of a function is refused', () => {
    const kind = 'K'.repeat(41);
    expect(problemsOf({ ...shop, kind })[0]).toContain(
      'kind must be 1 to 40 letters and digits, the first in upper case',
    );
    for (const taken of ['Goop', 'Watcher', 'RESYNC'])
      expect(problemsOf({ ...shop, kind: taken })).toEqual([
        `entry 1 (${taken}): kind must not be the name of another function, got ${taken}`,
      ]);
  });
});

describe('watches.yaml', () => {
  test('tells all problems at once, each with the number of its entry', () => {
    expect(
      problemsOf(
        'Shop',
        { ...shop, group: 'x', chart: 'y' },
        shop,
        { ...shop, group: 'other.example.com' },
        { ...shop, kind: 'Store', plural: 'shops' },
      ),
    ).toEqual([
      'entry 1: must be a map with group, version, kind and chart, got "Shop"',
      'entry 2 (Shop): group must be a domain such as charts.example.com, got "x"',
      'entry 2 (Shop): chart must be in charts/, without a way out of it, got "y"',
      'entry 4 (Shop): kind must be another than that of entry 3, got Shop',
      'entry 5 (Store): plural must be another than that of entry 3, got shops',
    ]);
  });

  test('may be empty, and must be a list', () => {
    const read = (text: string) => parseWatches(text, { root, taken: [] });
    expect(read('')).toEqual([]);
    expect(read('# none yet\n')).toEqual([]);
    expect(() => read('group: x')).toThrow('must be a list of entries, got {"group":"x"}');
    expect(() => read('- {')).toThrow(/^functions\/helm\/watches.yaml must be YAML: /);
    expect(() => read('- kind: A\n  kind: B')).toThrow(/must be YAML: .*unique/);
  });
});

test.each([
  ['Minimart', 'minimarts'],
  ['Proxy', 'proxies'],
  ['Gateway', 'gateways'],
  ['Box', 'boxes'],
  ['Bus', 'buses'],
  ['Batch', 'batches'],
  ['Mesh', 'meshes'],
])('the plural of %s is %s', (kind, plural) => {
  expect(pluralOf(kind)).toBe(plural);
});
