import { describe, expect, test } from 'vitest';
import { isRe2 } from '../../local/generate/re2.ts';
import { FREE, structuralSchemaOf } from '../../local/generate/structural-schema.ts';

/** The schema of one value `it`, in a document with these definitions. */
function fieldOf(schema: unknown, root: object = {}) {
  const whole = { type: 'object', properties: { it: schema }, ...root };
  const { properties } = structuralSchemaOf(whole, { defaults: {} });
  return (properties as { readonly it: unknown }).it;
}

describe('references', () => {
  const definitions = {
    port: { type: 'integer', maximum: 65_535 },
    'a/b': { type: 'boolean' },
    tree: { type: 'object', properties: { child: { $ref: '#/definitions/tree' } } },
    loop: { $ref: '#/definitions/loop' },
    two: { allOf: [{ $ref: '#/definitions/port' }, { minimum: 1 }] },
  };
  const referring = (schema: object) => fieldOf(schema, { definitions });

  test('are followed within the document', () => {
    expect(referring({ $ref: '#/definitions/port', description: 'Of the shop.' })).toEqual({
      type: 'integer',
      maximum: 65_535,
      description: 'Of the shop.',
    });
    expect(referring({ $ref: '#/definitions/a~1b' })).toEqual({ type: 'boolean' });
    expect(referring({ $ref: '#/definitions/two' })).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
    });
  });

  test('that lead back are followed once', () => {
    expect(referring({ $ref: '#/definitions/tree' })).toEqual({
      type: 'object',
      properties: { child: FREE },
      ...FREE,
    });
    expect(referring({ $ref: '#/definitions/loop' })).toEqual(FREE);
    expect(referring({ $ref: '#' })).toMatchObject({ properties: { it: FREE } });
  });

  test('of parts that are one are merged', () => {
    const a = { type: 'object', required: ['x'], properties: { x: { type: 'string' } } };
    const b = { required: ['y'], properties: { x: { minLength: 2 }, y: { type: 'integer' } } };
    expect(referring({ allOf: [a, b] })).toEqual({
      type: 'object',
      required: ['x', 'y'],
      properties: { x: { type: 'string', minLength: 2 }, y: { type: 'integer' } },
      ...FREE,
    });
  });

  test('that multiply come to an end', () => {
    const names = Array.from({ length: 30 }, (_, i) => `d${i}`);
    const many = Object.fromEntries(
      names.map((name, i) => {
        const next = { $ref: `#/definitions/d${i + 1}` };
        return [name, { type: 'object', properties: { a: next, b: next, c: next, d: next } }];
      }),
    );
    const schema = fieldOf({ $ref: '#/definitions/d0' }, { definitions: many });
    expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
  });
});

describe('regular expressions', () => {
  test.each([
    '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    String.raw`^\d{1,3}(?:\.\d{1,3}){3}$`,
    String.raw`^[a-z]{1,63}(\.[a-z]{1,63})*$`,
    String.raw`[\]\-\/_]`,
    String.raw`\x41|\s\S\w\W\b`,
    'a{2,}',
    'x{',
  ])('%s is one of the API server too', (pattern) => {
    expect(isRe2(pattern)).toBe(true);
  });

  test.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<name>a)',
    String.raw`(a)\1`,
    String.raw`\u0041`,
    String.raw`\p{L}`,
    String.raw`\cA`,
    String.raw`[\b]`,
    '[^]',
    '[]',
    'a{1001}',
    '(a{100}){100}',
    '(',
    '*',
  ])('%s is not', (pattern) => {
    expect(isRe2(pattern)).toBe(false);
    expect(fieldOf({ type: 'string', pattern })).toEqual({ type: 'string' });
  });
});
