import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSettings, type Settings } from '../../functions/collector/settings.ts';
import { readSpec } from '../../functions/collector/spec.ts';
import { TerminalError } from '../../runtime/errors.ts';

const defaults = readSettings({});

const spec = (changes: {
  readonly collector?: object;
  readonly tenant?: object;
  readonly cluster?: unknown;
}) => ({
  cluster: 'production',
  ...changes,
  collector: { name: 'orders', version: '1.2.3', ...changes.collector },
  tenant: { reference: 'acme', instance: 'one', ...changes.tenant },
});

function refusal(value: unknown, settings: Settings = defaults): string {
  try {
    readSpec(value, settings);
  } catch (error) {
    expect(error).toBeInstanceOf(TerminalError);
    return `${(error as TerminalError).reason}: ${(error as Error).message}`;
  }
  throw new Error('it was taken');
}

describe('the spec of a collector', () => {
  test('says which chart becomes which release in which namespace', () => {
    expect(readSpec(spec({ tenant: { id: 'Tenant 7', reference: 'ACME' } }), defaults)).toEqual({
      release: { name: 'orders-one', namespace: 'acme' },
      chart: { bucket: 'production-helm', key: 'charts/orders-1.2.3.tgz' },
      values: {},
      tenant: { namespace: 'acme', id: 'Tenant 7' },
    });
  });

  test.each(['development', 'production', 'staging', 'Development', '', undefined, null, 7])(
    'takes version 0.0.1 from the development bucket for cluster development alone: %s',
    (cluster) => {
      const { chart } = readSpec(spec({ cluster }), defaults);
      expect(chart).toEqual(
        cluster === 'development'
          ? { bucket: 'development-helm', key: 'charts/orders-0.0.1.tgz' }
          : { bucket: 'production-helm', key: 'charts/orders-1.2.3.tgz' },
      );
    },
  );

  test.each([undefined, null, '', '9.9.9', 'latest', 'v1'])(
    'does not need a version in development: %s',
    (version) => {
      const { chart } = readSpec(
        spec({ cluster: 'development', collector: { version } }),
        defaults,
      );
      expect(chart.key).toBe('charts/orders-0.0.1.tgz');
    },
  );

  test.each(['../../etc/passwd', '1.0.0/../..', '..', 7])(
    'refuses a version that is a path even where it is not used: %s',
    (version) => {
      expect(refusal(spec({ cluster: 'development', collector: { version } }))).toContain(
        'InvalidSpec: spec.collector.version must be',
      );
    },
  );

  test('takes the names of the buckets from the configuration', () => {
    const settings = readSettings({ PODLESS_CHART_BUCKETS: 'production=my-charts' });
    expect(readSpec(spec({}), settings).chart.bucket).toBe('my-charts');
    expect(readSpec(spec({ cluster: 'development' }), settings).chart.bucket).toBe(
      'development-helm',
    );
  });

  test.each([
    '../secrets',
    'a/b',
    'a%2fb',
    'a b',
    'A',
    'ä',
    '-a',
    'a-',
    '',
    '.',
    '..',
    'a\n',
    'a'.repeat(54),
    'a.b',
    undefined,
    null,
    7,
    ['a'],
    { toString: 'a' },
  ])('refuses the chart name %j and says so', (name) => {
    const message = refusal(spec({ collector: { name } }));
    expect(message).toMatch(/^InvalidSpec: spec\.collector\.name must be .*, got /s);
  });

  test.each([
    '1',
    '1.2',
    'v1.2.3',
    '01.2.3',
    '1.2.3-01',
    '1.2.3-',
    '1.2.3+',
    '1.2.3/..',
    '../1.2.3',
    '1.2.3 ',
    '1.2.3\n',
    ' 1.2.3',
    '1.2.3-a..b',
    '1.2.3-ä',
    '',
    undefined,
    null,
    1.2,
    `1.2.3-${'a'.repeat(60)}`,
  ])('refuses the version %j in production and says so', (version) => {
    const message = refusal(spec({ collector: { version } }));
    expect(message).toMatch(/^InvalidSpec: spec\.collector\.version must be a semantic version/);
  });

  test.each([
    '0.0.0',
    '1.2.3',
    '10.20.30',
    '1.0.0-rc.1',
    '1.0.0-0a',
    '1.0.0+build.5',
    '1.0.0-x-y+z',
  ])('takes the version %s', (version) => {
    expect(readSpec(spec({ collector: { version } }), defaults).chart.key).toBe(
      `charts/orders-${version}.tgz`,
    );
  });

  test.each([
    'a.b',
    'a_b',
    '-a',
    'a-',
    '',
    'a'.repeat(64),
    'Müller',
    'a/b',
    '..',
    'a b',
    undefined,
    7,
    { a: 1 },
  ])('refuses the reference %j, which is no name of a namespace', (reference) => {
    expect(refusal(spec({ tenant: { reference } }))).toMatch(
      /^InvalidSpec: spec\.tenant\.reference must be a name of 1 to 63/,
    );
  });

  test('takes a reference of 63 characters, in any case', () => {
    const reference = `${'A'.repeat(62)}9`;
    expect(readSpec(spec({ tenant: { reference } }), defaults).release.namespace).toBe(
      reference.toLowerCase(),
    );
  });

  test.each(['A', 'a.b', '-a', '', undefined, 7])('refuses the instance %j', (instance) => {
    expect(refusal(spec({ tenant: { instance } }))).toContain('spec.tenant.instance must be');
  });

  test('refuses a release name of more than 53 characters, and says of what it is made', () => {
    const collector = { name: 'a'.repeat(50) };
    expect(
      readSpec(spec({ collector, tenant: { instance: 'bb' } }), defaults).release.name,
    ).toHaveLength(53);
    expect(refusal(spec({ collector, tenant: { instance: 'bbb' } }))).toMatch(
      /^InvalidSpec: spec\.tenant\.instance .*at most 53 characters, here 54, got "bbb"$/,
    );
  });

  test.each([undefined, null, 'x', [], {}, { collector: 1 }, { collector: {}, tenant: null }])(
    'refuses a spec that is %j',
    (value) => {
      expect(refusal(value)).toMatch(/^InvalidSpec: spec\.\w+ must be an object/);
    },
  );

  test('refuses an id that is too long, and cuts what it shows', () => {
    expect(refusal(spec({ tenant: { id: 'x'.repeat(257) } }))).toMatch(/spec\.tenant\.id .*…/);
    expect(
      refusal(spec({ collector: { name: `\ud83d${'x'.repeat(5_000)}` } })).length,
    ).toBeLessThan(500);
  });

  test('never lets anything but a plain name and version into the path', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string(),
        fc.string(),
        (name, version, instance) => {
          try {
            const { chart, release } = readSpec(
              spec({ collector: { name, version }, tenant: { instance } }),
              defaults,
            );
            expect(chart.key).toMatch(/^charts\/[a-z0-9-]+-[\d.]+[\w.+-]*\.tgz$/);
            expect(release.name).toMatch(/^[a-z0-9-]{1,53}$/);
          } catch (error) {
            expect(error).toBeInstanceOf(TerminalError);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('the namespaces that collectors may use', () => {
  const mayUse = (patterns: string | undefined, namespace: string) =>
    readSettings({ PODLESS_TENANT_NAMESPACES: patterns }).mayUse(namespace);

  test.each([
    [undefined, 'acme', true],
    [undefined, 'kube-system', false],
    [undefined, 'kube-anything', false],
    [undefined, 'default', false],
    ['*', 'default', false],
    ['*,default', 'default', true],
    ['kube-system', 'kube-system', false],
    ['tenant-*,acme', 'tenant-7', true],
    ['tenant-*,acme', 'acme', true],
    ['tenant-*,acme', 'acme-2', false],
    ['tenant-*,acme', 'my-tenant-7', false],
    ['*-prod', 'a-prod', true],
    ['*-prod', 'a-prod-2', false],
    ['', 'acme', false],
  ])('with %j: %s is %s', (patterns, namespace, expected) => {
    expect(mayUse(patterns, namespace)).toBe(expected);
  });

  test('are told in the refusal', () => {
    const settings = readSettings({ PODLESS_TENANT_NAMESPACES: 'tenant-*' });
    expect(refusal(spec({ tenant: { reference: 'Kube-System' } }))).toBe(
      'NamespaceNotAllowed: spec.tenant.reference must be a namespace that collectors may use, got "kube-system"',
    );
    expect(refusal(spec({}), settings)).toContain('got "acme"');
  });

  test('and the buckets must make sense, or the function does not start', () => {
    expect(() => readSettings({ PODLESS_TENANT_NAMESPACES: 'a b' })).toThrow(
      'PODLESS_TENANT_NAMESPACES must be',
    );
    expect(() => readSettings({ PODLESS_TENANT_NAMESPACES: '(a+)+$' })).toThrow('must be names');
    expect(() => readSettings({ PODLESS_CHART_BUCKETS: 'staging=x-y-z' })).toThrow(
      'PODLESS_CHART_BUCKETS must be',
    );
    expect(() => readSettings({ PODLESS_CHART_BUCKETS: 'production=..' })).toThrow(
      'must be development=<bucket>',
    );
  });
});
