import { describe, expect, test } from 'vitest';
import { createLog, describeError, type LogLevel, type LogLine } from '../../runtime/log.ts';

function createMemory(level?: LogLevel) {
  const lines: LogLine[] = [];
  return { lines, log: createLog((line) => lines.push(line), level) };
}

describe('a log line', () => {
  test('has level, message, time and the fields of every log it came through', () => {
    const { lines, log } = createMemory();
    log.with({ operator: 'widget' }).with({ run: 1 }).info('done', { count: 2 });
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'done',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        operator: 'widget',
        run: 1,
        count: 2,
      },
    ]);
  });

  test('is dropped below the level, which is info by default', () => {
    const usual = createMemory();
    usual.log.debug('a');
    usual.log.info('b');
    const quiet = createMemory('error');
    quiet.log.with({}).info('c');
    quiet.log.error('d');
    expect([...usual.lines, ...quiet.lines].map(({ message }) => message)).toEqual(['b', 'd']);
  });

  test('shows an error that is given as a field', () => {
    const { lines, log } = createMemory();
    log.info('a', { failure: new TypeError('b') });
    expect(lines[0]?.['failure']).toEqual({ error: 'b', errorName: 'TypeError' });
  });

  test('cannot be flooded by a field, however deep', () => {
    const { lines, log } = createMemory();
    const flood = 'x'.repeat(1_000_000);
    log.info('a', { flat: flood, nested: { deep: [flood] } });
    log.error('b', describeError(new Error('c', { cause: new Error(flood) })));
    for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(10_000);
    expect(lines[0]?.['flat']).toMatch(/^x{1024}… \(1000000 characters\)$/);
  });

  test('keeps its own level, message and time whatever the fields are called', () => {
    const { lines, log } = createMemory();
    log.info('done', { message: 'forged', level: 'error', timestamp: 'never' });
    expect(lines[0]).toMatchObject({ level: 'info', message: 'done' });
    expect(lines[0]?.timestamp).not.toBe('never');
  });
});

describe('a described error', () => {
  test('has message, name and causes, and no stack', () => {
    const error = new TypeError('outer', { cause: new Error('inner', { cause: 'text' }) });
    expect(describeError(error)).toEqual({
      error: 'outer',
      errorName: 'TypeError',
      cause: { error: 'inner', errorName: 'Error', cause: { error: 'text' } },
    });
  });

  test('may be anything that was thrown', () => {
    expect(describeError('text')).toEqual({ error: 'text' });
    expect(describeError(undefined)).toEqual({ error: 'undefined' });
  });

  test('comes to an end even if it is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(describeError(error)).length).toBeLessThan(2_000);
    const { lines, log } = createMemory();
    const round: Record<string, unknown> = {};
    round['round'] = round;
    log.info('a', { round });
    expect(JSON.stringify(lines)).toContain('…');
  });
});
