import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { oneCluster, synthesize, type Template } from './synthesize.ts';
import { functionsOf, type Properties, resourcesOf, targetOf } from './template-queries.ts';

const template = synthesize(oneCluster);
const layersOf = (properties: Properties | undefined) =>
  ((properties?.['Layers'] ?? []) as readonly unknown[]).map(targetOf);
const named = (name: string, of: Template = template) => functionsOf(of).get(`podless-${name}`);
const codeOf = (name: string, of: Template) =>
  (named(name, of)?.['Code'] as Properties | undefined)?.['S3Key'];

describe('a function that runs helm', () => {
  const users = operators.filter(({ tools = [] }) => tools.includes('helm'));
  const layers = resourcesOf(template, 'AWS::Lambda::LayerVersion');

  test('has the layer that holds it, which is one for all', () => {
    expect(users.map(({ name }) => name)).toEqual(['minimart', 'collector']);
    expect(layers.map(([, { Properties }]) => Properties['Description'])).toEqual([
      expect.stringContaining('/opt/helm/helm'),
    ]);
    for (const { name } of users) expect(layersOf(named(name))).toEqual(layers.map(([id]) => id));
  });

  test('runs on the processor that the layer was built for, all others on arm64', () => {
    for (const [name, properties] of functionsOf(template)) {
      const isUser = users.some((one) => `podless-${one.name}` === name);
      const expected = isUser ? ['x86_64'] : ['arm64'];
      expect([name, properties['Architectures']]).toEqual([name, expected]);
      expect([name, layersOf(properties)]).toHaveProperty('[1].length', isUser ? 1 : 0);
    }
  });

  test('is none where no operator needs it: then there is no layer', () => {
    const without = synthesize({ ...oneCluster, operators: 'ddbctldpjob,goop' });
    expect(resourcesOf(without, 'AWS::Lambda::LayerVersion')).toEqual([]);
  });
});

describe('operators that share code', () => {
  const [minimart] = operators.filter(({ name }) => name === 'minimart');
  if (!minimart) throw new Error('there must be a minimart');
  const kiosk = {
    ...minimart,
    name: 'kiosk',
    kind: { ...minimart.kind, kind: 'Kiosk', plural: 'kiosks' },
  };
  const both = synthesize(oneCluster, [...operators, kiosk]);

  test('have the same bundle', () => {
    expect(codeOf('kiosk', both)).toBe(codeOf('minimart', both));
    expect(codeOf('goop', both)).not.toBe(codeOf('minimart', both));
  });

  test('are told which of them they are', () => {
    for (const name of ['minimart', 'kiosk']) {
      const { Variables } = (named(name, both)?.['Environment'] ?? {}) as {
        Variables?: Properties;
      };
      expect(Variables?.['PODLESS_OPERATOR']).toBe(name);
    }
  });

  test('have nothing else in common', () => {
    const roles = ['minimart', 'kiosk'].map((name) => targetOf(named(name, both)?.['Role']));
    expect(new Set(roles).size).toBe(2);
    expect(resourcesOf(both, 'AWS::Lambda::LayerVersion')).toHaveLength(1);
  });
});
