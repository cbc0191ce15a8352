import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSafeMessage, errorOf } from '../../runtime/helm/safe-message.ts';

describe('a message of Helm', () => {
  test('is its last error, without logs and hints', () => {
    const stderr = [
      'level=WARN msg="something"',
      'Error: execution error at (c/templates/a.yaml:1:6): image is needed',
      '',
      'Use --debug flag to render out invalid YAML',
    ].join('\n');
    expect(errorOf(stderr)).toBe('execution error at (c/templates/a.yaml:1:6): image is needed');
  });

  test('does not quote a text that could not be read', () => {
    const stderr = 'Error: YAML parse error on c/templates/a.yaml: yaml: `hunte...` is bad\n';
    expect(errorOf(stderr)).toBe('YAML parse error on c/templates/a.yaml');
  });

  test('shows no value, however it is quoted', () => {
    const password = 'hunter2 "x"\nsecond line';
    const safe = createSafeMessage({ auth: [{ password }], port: 5432123 });
    const encoded = Buffer.from(password).toString('base64');
    const message = safe(`got ${JSON.stringify(password)}, ${encoded}, second line and 5432123`);
    expect(message).toBe('got "(hidden)", (hidden), (hidden) and (hidden)');
  });

  test('keeps what is short, since it is everywhere', () => {
    expect(createSafeMessage({ a: 'on', b: 80 })("at '/a': must be one of on, off; port 80")).toBe(
      "at '/a': must be one of on, off; port 80",
    );
  });

  test('never holds a text of the values, and has an end', () => {
    const secret = fc.string({ minLength: 4, maxLength: 40 }).filter((text) => /^\S+$/.test(text));
    const scene = fc.tuple(
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      fc.string(),
      fc.string(),
    );
    fc.assert(
      fc.property(scene, ([secrets, before, after]) => {
        const safe = createSafeMessage({ secrets });
        for (const one of secrets.filter((text) => !'(hidden)…'.includes(text))) {
          const message = safe(`${before} ${one} ${after}`);
          expect(message.length).toBeLessThanOrEqual(501);
          expect(message.replaceAll('(hidden)', '')).not.toContain(one);
        }
      }),
    );
  });
});
