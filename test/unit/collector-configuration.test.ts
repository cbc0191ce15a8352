import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseConfiguration } from '../../functions/collector/configuration.ts';
import { TerminalError } from '../../runtime/errors.ts';

const KILOBYTE = 1024;
const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const parse = (text: string): unknown => parseConfiguration(encode(text));

/** Why it is refused; the message may name the field and the place, and nothing else. */
function refusal(value: unknown): string {
  try {
    parseConfiguration(value);
  } catch (error) {
    expect(error).toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({ reason: 'InvalidConfiguration' });
    const { message, cause } = error as Error;
    expect(message).toMatch(/^spec\.collector\.configuration /);
    expect(cause).toBeUndefined();
    return message;
  }
  throw new Error('it was taken');
}

const refused = (text: string): string => refusal(encode(text));

describe('a configuration', () => {
  test('is the values of the chart', () => {
    const text =
      'replicas: 2\nratio: 0.5\nmask: 0o17\non: yes\nflags: {debug: true, none: ~}\nlist: [a, "1"]\nlong: |\n  one\n  two\n';
    expect(parse(text)).toEqual({
      replicas: 2,
      ratio: 0.5,
      mask: 15,
      on: 'yes',
      flags: { debug: true, none: null },
      list: ['a', '1'],
      long: 'one\ntwo\n',
    });
  });

  test.each([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['an empty document', encode('')],
    ['only a comment', encode('# nothing\n')],
    ['null in YAML', encode('~')],
    ['a start of a document and nothing', encode('---\n')],
  ])('that is %s means no values', (_, value) => {
    expect(parseConfiguration(value)).toEqual({});
  });

  test('may be wrapped into lines, as `base64` does it', () => {
    const text = `text: ${'x'.repeat(300)}`;
    const wrapped = encode(text).replace(/(.{76})/g, '$1\n');
    expect(parseConfiguration(`${wrapped}\n`)).toEqual({ text: 'x'.repeat(300) });
    expect(parseConfiguration(wrapped.replaceAll('\n', '\r\n'))).toEqual({ text: 'x'.repeat(300) });
  });

  test.each([
    ['text that is none', 'replicas: 2'],
    ['no padding', encode('a: 1').replaceAll('=', '')],
    ['padding too much', `${encode('a: 12')}=`],
    ['padding inside', `${encode('a: 1')}${encode('b: 2')}`],
    ['the alphabet for addresses', encode('a: ~~~???>>>').replace('+', '-').replace('/', '_')],
    ['blanks', encode('a: 1234567').replace(/^..../, '$& ')],
    ['spare bits', 'YTogMR=='],
    ['a lone character', 'A'],
    ['characters that look alike', 'ＹTogMQ=='],
  ])('in base64 with %s is refused', (_, value) => {
    expect(refusal(value)).toContain('must be base64');
  });

  test('that is no text at all is refused', () => {
    expect(refusal(7)).toContain('must be a text in base64');
    expect(refusal({ a: 1 })).toContain('must be a text in base64');
    expect(refusal(encode(Buffer.from([0x61, 0x3a, 0x20, 0xff])))).toContain('UTF-8');
    expect(refused('a: "\0"')).toContain('control characters');
  });

  test('of 64 KB is taken, one byte more is not, and far more is not even decoded', () => {
    const full = `# ${'x'.repeat(64 * KILOBYTE - 2)}`;
    expect(parse(full)).toEqual({});
    expect(refused(`${full}x`)).toContain('at most 64 KB');
    expect(refusal('A'.repeat(10_000_000))).toContain('at most 64 KB');
    expect(refusal('\n'.repeat(10_000_000))).toContain('at most 64 KB');
  });

  test.each([
    ['a list', '- a\n- b'],
    ['a text', 'hello'],
    ['a number', '7'],
  ])('whose top is %s is refused', (_, text) => {
    expect(refused(text)).toContain('must be a YAML map');
  });

  test.each([
    ['two documents', 'a: 1\n---\nb: 2', 'one document'],
    ['another version of YAML', '%YAML 1.1\n---\na: yes', 'no directives'],
    ['a tag of its own', '%TAG ! tag:x,2000:\n---\na: !y 1', 'no directives'],
    ['a custom tag', 'a: !ruby/object:Gem {}', 'TAG_RESOLVE_FAILED (line 1, column 4)'],
    ['binary', 'a: 1\nb: !!binary aGVsbG8=', 'TAG_RESOLVE_FAILED (line 2, column 4)'],
    ['a set', 'a: !!set {x, y}', 'TAG_RESOLVE_FAILED'],
    ['a tag that does not fit', 'a: !!int x', 'TAG_RESOLVE_FAILED'],
    ['bad indentation', 'a:\n  b: 1\n c: 2', 'must be plain YAML'],
    ['an open quote', 'a: "x', 'must be plain YAML'],
    ['a merge key', 'a: &a {x: 1}\nb:\n  <<: *a', 'forbidden key (line 3, column 3)'],
    ['a quoted merge key', '"<<": {x: 1}', 'forbidden key'],
    ['__proto__', '__proto__: {polluted: true}', 'forbidden key'],
    ['__proto__, written otherwise', '"__pr\\x6fto__": 1', 'forbidden key'],
    ['constructor, deep inside', 'a: [{b: {constructor: 1}}]', 'forbidden key'],
    ['prototype', 'prototype: 1', 'forbidden key'],
    ['a key twice', 'a: 1\nb: 2\na: 3', 'each key once (line 3, column 1)'],
    ['a key twice in another spelling', '1: a\n"1": b', 'each key once'],
    ['a list as key', '? [a]\n: 1', 'must be plain YAML'],
    ['an alias as key', 'a: &a x\n*a : 1', 'must'],
    ['an alias without anchor', 'a: *nobody', 'an anchor for each alias'],
    ['an alias before its anchor', 'a: *x\nb: &x 1', 'an anchor for each alias'],
    ['itself', 'a: &a [*a]', 'must not hold itself'],
    ['itself in a map', 'a: &a {b: {c: *a}}', 'must not hold itself'],
    ['a number beyond 2^53', 'a: 9007199254740993', 'must quote a number'],
    ['infinity', 'a: .inf', 'must quote a number'],
    ['no number', 'a: .nan', 'must quote a number'],
  ])('with %s is refused', (_, text, problem) => {
    expect(refused(text)).toContain(problem);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('may name keys with numbers and booleans, as texts', () => {
    expect(parse('8080: a\ntrue: b\n1.10: c')).toEqual({ 8080: 'a', true: 'b', '1.10': 'c' });
  });
});

describe('the limits of a configuration', () => {
  const list = (depth: number, inner = '') => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

  test('nested 20 deep is taken, 21 is not, in every notation', () => {
    expect(parse(`a: ${list(19, '1')}`)).toBeTypeOf('object');
    expect(refused(`a: ${list(20, '1')}`)).toContain('at most 20 deep');
    expect(refused(`a:\n  ${'- '.repeat(20)}1`)).toContain('at most 20 deep');
    expect(refused(`${'{a: '.repeat(21)}1${'}'.repeat(21)}`)).toContain('at most 20 deep');
    expect(
      refused(Array.from({ length: 21 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')),
    ).toContain('at most 20 deep');
  });

  test('an alias counts as deep as what it stands for', () => {
    expect(refused(`a: &a ${list(12, '1')}\nb: ${list(12, '*a')}`)).toContain('at most 20 deep');
    expect(parse(`a: &a ${list(9, '1')}\nb: ${list(10, '*a')}`)).toBeTypeOf('object');
  });

  test('10,000 values and keys are taken, one more is not', () => {
    // The map, its key, the list.
    const ones = (count: number) => `a: [${Array.from({ length: count }, () => 1).join(',')}]`;
    expect(parse(ones(9_997))).toBeTypeOf('object');
    expect(refused(ones(9_998))).toContain('at most 10000 values');
  });

  test('100 aliases are taken, one more is not', () => {
    const aliases = (count: number) =>
      `a: &a 1\nb: [${Array.from({ length: count }, () => '*a').join(', ')}]`;
    expect(parse(aliases(100))).toBeTypeOf('object');
    expect(refused(aliases(101))).toContain('at most 100 aliases');
  });

  test('a billion laughs are refused before they are written out', () => {
    const laughs = Array.from(
      { length: 12 },
      (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 8 }, () => `*l${i}`).join(', ')}]`,
    );
    expect(refused(`l0: &l0 [ha, ha, ha]\n${laughs.join('\n')}`)).toMatch(/at most 10000 values/);
  });

  test('a long text cannot be multiplied by aliases', () => {
    const aliases = Array.from({ length: 100 }, () => '*a').join(', ');
    expect(refused(`a: &a ${'x'.repeat(30_000)}\nb: [${aliases}]`)).toContain('characters of text');
  });

  test('what an alias stands for is what the anchor before it meant', () => {
    expect(parse('a: &x {k: 1}\nb: *x\nc: &x 2\nd: *x')).toEqual({
      a: { k: 1 },
      b: { k: 1 },
      c: 2,
      d: 2,
    });
  });

  test('no 64 KB of anything does harm: refused or taken, and soon', () => {
    const pieces = [
      '[',
      '{',
      '- ',
      '? ',
      ': ',
      'a: ',
      '&a ',
      '*a ',
      '!!str ',
      '!',
      '|\n',
      '>-\n',
      '"',
      "'",
      ',',
      '#\n',
      '%\n',
      '---\n',
      '\n',
      '\t',
      '\ufeff',
      '{a: ',
      '[{',
      'a:\n',
      '<<: *a\n',
      '- &a b\n',
      '-\n',
      '[],',
      '{}: ',
    ];
    for (const piece of pieces) {
      const text = piece.repeat(Math.floor((64 * KILOBYTE) / Buffer.byteLength(piece)));
      try {
        parse(text);
      } catch (error) {
        expect(error, piece).toMatchObject({ reason: 'InvalidConfiguration' });
      }
    }
  });

  test('any text is taken or refused, and any plain value comes back as it was', () => {
    const seen = (text: string) => {
      try {
        return parse(text);
      } catch (error) {
        return (error as TerminalError).reason;
      }
    };
    const mark = fc.constantFrom(
      'a',
      ' ',
      '\n',
      ':',
      '-',
      '[',
      ']',
      '{',
      '}',
      '&',
      '*',
      '!',
      '|',
      '"',
      "'",
      '?',
      ',',
      '#',
      '<',
    );
    const soup = fc.array(mark, { maxLength: 200 }).map((marks) => marks.join(''));
    fc.assert(
      fc.property(soup, (text) => {
        const result = seen(text);
        expect(result === 'InvalidConfiguration' || typeof result === 'object').toBe(true);
      }),
      { numRuns: 2_000 },
    );
    const key = fc
      .string({ minLength: 1, maxLength: 8 })
      .filter((text) => !/__proto__|constructor|prototype|<<|\p{Cc}/u.test(text));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree, { maxKeys: 5, noNullPrototype: true }), (values) => {
        expect(seen(stringify(values, { aliasDuplicateObjects: false }))).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });
});

const leaf = fc.oneof(
  fc.string({ maxLength: 12 }).filter((text) => !/\p{Cc}/u.test(text)),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
);

describe('a secret in a configuration', () => {
  const CANARY = 'hunter2-canary';

  test.each([
    `a: "${CANARY}`,
    `${CANARY}: [`,
    `a: !${CANARY} x`,
    `a: *${CANARY}`,
    `%${CANARY}`,
    `${CANARY}: 1\n${CANARY}: 2`,
    `- ${CANARY}`,
    `a: @${CANARY}`,
    `__proto__: ${CANARY}`,
    `a: ${CANARY}\0`,
    `${'['.repeat(30)}${CANARY}`,
  ])('is in no message, whatever is wrong with it', (text) => {
    expect(refused(text)).not.toContain(CANARY);
    expect(refusal(CANARY.repeat(3))).not.toContain(CANARY);
  });
});
