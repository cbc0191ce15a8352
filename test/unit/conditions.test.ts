import { describe, expect, test } from 'vitest';
import { changedConditions, mergeConditions, replaceConditions } from '../../runtime/conditions.ts';
import type { Condition } from '../../runtime/kube/objects.ts';

const before: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Made',
  message: 'all is well',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
};
const moment = { generation: 2, now: Date.parse('2026-02-02T02:02:02.222Z') };
const other: Condition = { ...before, type: 'Checked' };

describe('merging conditions', () => {
  test('keeps the time of the last transition while the status stays', () => {
    const state = { ...before, reason: 'Checked', message: 'still well' };
    expect(mergeConditions([before], [state], moment)).toEqual([
      { ...state, observedGeneration: 2 },
    ]);
  });

  test('moves it, in whole seconds, when the status changes or is new', () => {
    const state = { ...before, status: 'False' } as const;
    const [changed] = mergeConditions([before], [state], moment);
    const [added] = mergeConditions([other], [before], moment);
    expect(changed?.lastTransitionTime).toBe('2026-02-02T02:02:02Z');
    expect(added?.lastTransitionTime).toBe('2026-02-02T02:02:02Z');
  });

  test('drops the conditions that are not mentioned', () => {
    expect(mergeConditions([before, other], [before], moment)).toHaveLength(1);
  });

  test('says no generation where the object has none', () => {
    const [condition] = mergeConditions([], [before], { ...moment, generation: undefined });
    expect(condition).not.toHaveProperty('observedGeneration');
  });

  test('shortens a long message, never in the middle of a character', () => {
    const messageOf = (message: string) =>
      mergeConditions([], [{ ...before, message }], moment)[0]?.message ?? '';
    expect(messageOf('x'.repeat(1000))).toHaveLength(1000);
    expect(messageOf('x'.repeat(5000))).toBe(`${'x'.repeat(1000)}…`);
    expect(messageOf(`${'x'.repeat(999)}😀`)).toBe(`${'x'.repeat(999)}…`);
    expect(messageOf('😀'.repeat(501)).isWellFormed()).toBe(true);
  });
});

describe('replacing conditions', () => {
  test('leaves the others as they are, and all in their place', () => {
    const next = { ...before, status: 'False' } as const;
    const added = { ...before, type: 'Paused' };
    expect(replaceConditions([before, other], [added, next])).toEqual([next, other, added]);
  });
});

describe('a condition is worth an Event', () => {
  test.each<[string, Partial<Condition>, boolean]>([
    ['not if it is the same', {}, false],
    [
      'not if only message, time or generation differ',
      { message: 'm', observedGeneration: 9 },
      false,
    ],
    ['if its status differs', { status: 'False' }, true],
    ['if its reason differs', { reason: 'Other' }, true],
    ['if it is new', { type: 'New' }, true],
  ])('%s', (_, change, worth) => {
    const next = { ...before, ...change };
    expect(changedConditions([before], [next])).toEqual(worth ? [next] : []);
  });

  test('but not if it went away', () => {
    expect(changedConditions([before, other], [before])).toEqual([]);
  });
});
