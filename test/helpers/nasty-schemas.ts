const ref = (name: string) => ({ $ref: `#/definitions/${name}` });

/** JSON schemas of values that ask more of a CRD than it can tell, by what is nasty about them. */
export const nastySchemas: Readonly<Record<string, unknown>> = {
  'no schema': undefined,
  true: true,
  'an empty one': {},
  'one that is not about a map': { type: 'array', items: { type: 'string' } },
  'lists of all sorts': {
    properties: {
      plain: { type: 'array' },
      tuple: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }] },
      unique: { type: 'array', uniqueItems: true, items: { type: 'string' } },
      nested: { type: 'array', items: { type: 'array', items: {} } },
      prefix: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    },
  },
  'types of all sorts': {
    type: 'object',
    properties: {
      none: {},
      several: { type: ['string', 'boolean', 'object'] },
      numberOrText: { type: ['integer', 'string', 'null'] },
      nothing: { type: 'null' },
      never: false,
      always: true,
      strange: { type: 'money' },
      '': { type: 'string' },
      'with.dots/and slashes': { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'integer' } } },
      apiVersion: { type: 'integer' },
    },
  },
  'limits of all sorts': {
    type: 'object',
    minProperties: 0,
    properties: {
      lookahead: { type: 'string', pattern: '^(?!x)' },
      unicode: { type: 'string', pattern: String.raw`\u0041\p{L}` },
      repeated: { type: 'string', pattern: '^(a{50}){50}$' },
      format: { type: 'string', format: 'no-such-format' },
      exclusive: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1.5 },
      choice: { enum: ['a', 1, null, { b: [] }] },
      constant: { const: { a: 1 } },
      wrong: { type: 'string', minLength: -1, maxLength: 'x', enum: 'a', pattern: 7 },
      defaulted: { type: 'string', default: 7 },
    },
    required: ['unheard-of'],
  },
  'parts that a CRD cannot tell': {
    type: 'object',
    properties: { a: { type: 'string' } },
    patternProperties: { '^x-': { type: 'integer' } },
    additionalProperties: { type: 'string' },
    dependencies: { a: ['b'] },
    oneOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } } }],
    anyOf: [{ not: { required: ['c'] } }],
    if: { properties: { a: { const: 'x' } } },
    else: { required: ['d'] },
    unevaluatedProperties: false,
  },
  'references of all sorts': {
    properties: {
      tree: ref('tree'),
      loop: ref('loop'),
      self: { $ref: '#' },
      missing: ref('missing'),
      remote: { $ref: 'https://example.com/schema.json' },
      both: { allOf: [ref('tree'), { required: ['leaf'] }, { $ref: '#' }] },
    },
    definitions: {
      tree: {
        type: 'object',
        properties: { leaf: { type: 'string' }, children: { items: ref('tree') } },
        additionalProperties: false,
      },
      loop: ref('loop'),
    },
  },
  'a great one': {
    properties: Object.fromEntries(
      Array.from({ length: 1500 }, (_, i) => [
        `field${i}`,
        { type: 'string', description: 'much to read '.repeat(20) },
      ]),
    ),
  },
  'a deep one': Array.from({ length: 40 }).reduce<object>(
    (inner) => ({ type: 'object', properties: { in: inner } }),
    { type: 'string' },
  ),
};
