import { describe, expect, test } from 'vitest';
import { FREE, structuralSchemaOf } from '../../local/generate/structural-schema.ts';

const OPEN = { 'x-kubernetes-preserve-unknown-fields': true };

/** The schema of one value `it`, in a chart that gives these values. */
function fieldOf(schema: unknown, defaults: object = {}, root: object = {}) {
  const whole = { type: 'object', properties: { it: schema }, ...root };
  const { properties } = structuralSchemaOf(whole, { defaults });
  return (properties as { readonly it: unknown }).it;
}

describe('the schema of values, as a CRD tells it', () => {
  test('is free where there is none, or where it is not about a map', () => {
    for (const schema of [
      true,
      {},
      undefined,
      7,
      { type: 'string' },
      { $ref: 'http://x/y.json' },
    ]) {
      expect(structuralSchemaOf(schema, { defaults: undefined })).toEqual({
        type: 'object',
        ...OPEN,
      });
    }
  });

  test('keeps types and limits, each with the type it is for', () => {
    const string = { type: 'string', minLength: 1, maxLength: 9, pattern: '^a+$', minimum: 3 };
    const { minimum: _minimum, ...rest } = string;
    expect(fieldOf(string)).toEqual(rest);
    expect(fieldOf({ type: 'string', enum: ['a', 'b', 7] })).toEqual({
      type: 'string',
      enum: ['a', 'b'],
    });
    expect(fieldOf({ type: 'boolean', description: ' On or off. ' })).toEqual({
      type: 'boolean',
      description: 'On or off.',
    });
    expect(fieldOf({ type: 'integer', minimum: 0, maximum: 10, multipleOf: 2 })).toEqual({
      type: 'integer',
      minimum: 0,
      maximum: 10,
      multipleOf: 2,
    });
    const list = { type: 'array', minItems: 1, maxItems: 3, uniqueItems: true };
    expect(fieldOf({ ...list, items: { type: 'string' } })).toEqual({
      type: 'array',
      minItems: 1,
      maxItems: 3,
      items: { type: 'string' },
    });
  });

  test('has no defaults: they would be stored in every object as if the user had said so', () => {
    const schema = { type: 'string', default: 'x', examples: ['y'], format: 'uri', $comment: 'z' };
    expect(fieldOf(schema)).toEqual({ type: 'string' });
  });

  test('is open for other keys unless the schema says that there are none', () => {
    const properties = { a: { type: 'string' } };
    expect(fieldOf({ type: 'object', properties })).toEqual({
      type: 'object',
      properties,
      ...OPEN,
    });
    expect(
      fieldOf({ type: 'object', properties, additionalProperties: { type: 'string' } }),
    ).toEqual({ type: 'object', properties, ...OPEN });
    const closed = { type: 'object', properties, additionalProperties: false };
    expect(fieldOf(closed)).toEqual({ type: 'object', properties });
    expect(fieldOf({ ...closed, patternProperties: { '^x': {} } })).toEqual({
      type: 'object',
      properties,
      ...OPEN,
    });
    expect(fieldOf({ type: 'object' })).toEqual({ type: 'object', ...OPEN });
    expect(fieldOf({ type: 'object', additionalProperties: { type: 'integer' } })).toEqual({
      type: 'object',
      additionalProperties: { type: 'integer' },
    });
  });

  test.each([
    ['no type', {}],
    ['true', true],
    ['false', false],
    ['two types', { type: ['string', 'boolean'] }],
    ['a type of its own', { type: 'money' }],
    ['only null', { type: 'null' }],
    ['variants without a type', { oneOf: [{ required: ['a'] }, { type: 'object' }] }],
    ['variants of two types', { anyOf: [{ type: 'string' }, { type: 'object' }] }],
    ['another document', { $ref: 'other.json#/a' }],
    ['nothing there', { $ref: '#/definitions/nothing' }],
    ['mixed values', { enum: ['a', 1] }],
  ])('is free where a CRD cannot tell it: %s', (_what, schema) => {
    expect(fieldOf(schema)).toEqual(FREE);
  });

  test('tells what is around the parts that it cannot tell', () => {
    const properties = { a: { type: 'string' } };
    const parts = { oneOf: [{ required: ['a'] }], not: {}, if: {}, else: {}, dependencies: {} };
    expect(fieldOf({ type: 'object', properties, ...parts })).toEqual({
      type: 'object',
      properties,
      ...OPEN,
    });
    for (const items of [undefined, true, [{ type: 'string' }]]) {
      expect(fieldOf({ type: 'array', items })).toEqual({ type: 'array', items: FREE });
    }
  });

  test('knows null, and numbers that may be texts', () => {
    // An enum of a CRD cannot have null.
    expect(fieldOf({ type: ['string', 'null'], enum: ['a', 'b.c', null] })).toEqual({
      type: 'string',
      nullable: true,
      pattern: String.raw`^(a|b\.c)$`,
    });
    expect(fieldOf({ type: ['integer', 'null'], enum: [1, null] })).toEqual({
      type: 'integer',
      nullable: true,
    });
    expect(fieldOf({ oneOf: [{ type: 'boolean' }, { type: 'null' }] })).toEqual({
      type: 'boolean',
      nullable: true,
    });
    const intOrString = { 'x-kubernetes-int-or-string': true };
    expect(fieldOf({ type: ['integer', 'string'] })).toEqual(intOrString);
    expect(fieldOf({ anyOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual(intOrString);
    expect(fieldOf({ type: ['integer', 'number'] })).toEqual({ type: 'number' });
    expect(fieldOf({ type: ['number', 'string'] })).toEqual(FREE);
  });

  test('guesses a type that goes without saying', () => {
    expect(fieldOf({ enum: ['a', 'b'] })).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(fieldOf({ const: true })).toEqual({ type: 'boolean', enum: [true] });
    expect(fieldOf({ items: { type: 'string' } })).toMatchObject({ type: 'array' });
    expect(fieldOf({ properties: { a: {} } })).toMatchObject({ type: 'object' });
  });

  test('reads exclusive limits of old and new drafts', () => {
    const number = (limits: object) => fieldOf({ type: 'number', ...limits });
    expect(number({ exclusiveMinimum: 0 })).toEqual({
      type: 'number',
      minimum: 0,
      exclusiveMinimum: true,
    });
    expect(number({ maximum: 9, exclusiveMaximum: true })).toEqual({
      type: 'number',
      maximum: 9,
      exclusiveMaximum: true,
    });
    expect(number({ minimum: 5, exclusiveMinimum: 1 })).toEqual({ type: 'number', minimum: 5 });
    expect(number({ minimum: '5', maximum: null, multipleOf: 0 })).toEqual({ type: 'number' });
  });
});

describe('what the chart gives itself', () => {
  const schema = {
    type: 'object',
    required: ['image', 'host'],
    properties: {
      image: {
        type: 'object',
        required: ['tag', 'name'],
        minProperties: 2,
        properties: { tag: { type: 'string' }, name: { type: 'string', enum: ['a'] } },
      },
      host: { type: 'string' },
      list: { type: 'array', items: { type: 'object', required: ['x'], properties: { x: {} } } },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', required: ['x'], properties: { x: {} } },
      },
    },
  };
  const defaults = { image: { name: 'a' }, list: [{ x: 1 }], map: { some: { x: 1 } } };

  test('need not be in the spec, and can be taken away by null', () => {
    expect(structuralSchemaOf(schema, { defaults })).toMatchObject({
      required: ['host'],
      properties: {
        image: {
          nullable: true,
          required: ['tag'],
          properties: { name: { nullable: true, pattern: '^(a)$' }, tag: { type: 'string' } },
        },
        list: { items: { required: ['x'] } },
      },
    });
    const { properties } = structuralSchemaOf(schema, { defaults }) as {
      readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    expect(properties['image']).not.toHaveProperty('minProperties');
    expect(properties['map']?.['additionalProperties']).not.toHaveProperty('required');
    expect(properties['host']).toEqual({ type: 'string' });
  });

  test('is nothing where there are no values', () => {
    const all = structuralSchemaOf(schema, { defaults: undefined });
    expect(all).toMatchObject({
      required: ['image', 'host'],
      properties: { image: { required: ['tag', 'name'], minProperties: 2 } },
    });
    expect(all).not.toHaveProperty('nullable');
  });
});
