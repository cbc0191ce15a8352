import { describe, expect, test } from 'vitest';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import { KubeApiError, KubeConnectionError } from '../../runtime/kube/client.ts';
import { classify, InternalError } from '../../runtime/outcome.ts';

const api = (status: number) => new KubeApiError(status, 'Reason', 'message');

describe('what an exception means', () => {
  test.each([
    ['terminal', new TerminalError('InvalidSpec', 'bad')],
    ['waiting', new TransientError('Away', 'away')],
    ['retry', new KubeConnectionError('lost')],
    ...[401, 404, 408, 409, 410, 429, 500, 503, 504].map(
      (status) => ['retry', api(status)] as const,
    ),
    ...[400, 403, 413, 422].map((status) => ['error', api(status)] as const),
    ['error', new TypeError('a bug')],
    ['error', 'not even an error'],
    ['error', undefined],
  ] as const)('is %s for %s', (outcome, error) => {
    expect(classify(error)).toBe(outcome);
  });
});

describe('an error for the user', () => {
  test('carries its reason and the name of its class', () => {
    const cause = new Error('cause');
    const error = new TransientError('Away', 'the world is away', { cause });
    expect(error).toMatchObject({ name: 'TransientError', reason: 'Away', cause });
  });

  test('tells of a bug where to look, and not what it was', () => {
    const error = new InternalError(new Error('secret detail'));
    expect(error.reason).toBe('InternalError');
    expect(error.message).toContain('the log of the function');
    expect(error.message).not.toContain('secret detail');
  });
});
