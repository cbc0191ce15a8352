import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../runtime/helm/manifest-yaml.ts';

const parsed = (text: string): unknown => parseManifest(text)[0]?.value;

describe('YAML of a manifest', () => {
  test.each([
    ['yes', true],
    ['Off', false],
    ['0644', 420],
    ['09', 9],
    ['0x1F', 31],
    ['1_000', 1000],
    ['1e3', 1000],
    ['12:30:45', '12:30:45'],
    ['2001-01-01', '2001-01-01'],
    ['~', null],
    ["'yes'", 'yes'],
    ['.', '.'],
    ['e3', 'e3'],
    ['1e999', '1e999'],
  ])('reads %s as Helm does', (text, expected) => {
    expect(parsed(`a: ${text}\n`)).toEqual({ a: expected });
  });

  test('merges keys, and takes the last of two that are the same', () => {
    expect(parsed('a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n')).toMatchObject({ d: { b: 1, c: 3 } });
    expect(parsed('a: 1\na: 2\n')).toEqual({ a: 2 });
  });

  test('has the template of each document', () => {
    const text = '---\n# Source: c/a.yaml\n# more\na: 1\n---\n# Source: c/b.yaml\nb: 2\n';
    expect(parseManifest(text).map(({ source }) => source)).toEqual(['c/a.yaml', 'c/b.yaml']);
  });

  test('has no effect on other objects by the name of a key', () => {
    parsed('__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\n');
    expect({}).not.toHaveProperty('polluted');
  });

  const canary = 'hunter2-canary';
  test.each([
    ['broken text', `---\n# Source: c/a.yaml\na: b: ${canary}\n`],
    ['an unknown tag', `---\n# Source: c/a.yaml\na: !!binary ${canary}\n`],
    [
      'a number that cannot be kept',
      `---\n# Source: c/a.yaml\nb: ${canary}\na: 9007199254740993\n`,
    ],
  ])('refuses %s, names the template and does not quote it', (_what, text) => {
    const error = thrownBy(() => parseManifest(text));
    expect(error.message).toMatch(/^c\/a.yaml does not render to valid YAML/);
    expect(error.message).not.toContain(canary);
  });

  test('refuses what is too deep or has too many aliases, soon', () => {
    const names = 'abcdefghij'.split('');
    const bomb = names.map((name, index) => {
      const before = index === 0 ? 'x' : `*${names[index - 1]}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => before).join(',')}]\n`;
    });
    expect(thrownBy(() => parseManifest(bomb.join(''))).message).toMatch(/valid YAML/);
    expect(thrownBy(() => parseManifest('['.repeat(100_000))).message).toMatch(/valid YAML/);
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it must throw an Error');
}
