import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideForwarding } from '../../runtime/watch/forwarding.ts';

const settled = {
  metadata: { generation: 2, annotations: {} as Record<string, unknown> },
  status: { observedGeneration: 2, conditions: [] as unknown[] } as Record<string, unknown>,
};
const withMetadata = (metadata: object) => ({
  ...settled,
  metadata: { ...settled.metadata, ...metadata },
});
const withAnnotation = (name: string, value: unknown, status: object = {}) => ({
  metadata: { ...settled.metadata, annotations: { [`podless.dev/${name}`]: value } },
  status: { ...settled.status, ...status },
});
const paused = {
  conditions: [
    { type: 'Ready', status: 'False' },
    { type: 'Paused', status: 'True' },
  ],
};

describe('forwarding rule', () => {
  test.each([
    ['an object without status', { metadata: { generation: 1 } }, 'New'],
    ['a spec newer than the status', withMetadata({ generation: 3 }), 'SpecChanged'],
    ['a deletion in progress', withMetadata({ deletionTimestamp: 'now' }), 'Deleting'],
    [
      'a first reconcile request',
      withAnnotation('reconcile-requested-at', 'a'),
      'ReconcileRequested',
    ],
    [
      'another reconcile request',
      withAnnotation('reconcile-requested-at', 'b', { lastHandledReconcileAt: 'a' }),
      'ReconcileRequested',
    ],
    ['a new pause', withAnnotation('paused', ''), 'PauseChanged'],
    [
      'a pause that is over',
      { ...settled, status: { ...settled.status, ...paused } },
      'PauseChanged',
    ],
    ['a pause set to false', withAnnotation('paused', 'false', paused), 'PauseChanged'],
  ])('forwards %s', (_, object, reason) => {
    expect(decideForwarding('MODIFIED', object)).toBe(reason);
    expect(decideForwarding('ADDED', object)).toBe(reason);
  });

  test.each([
    ['an object whose status is up to date', settled],
    [
      'a reconcile request that was handled',
      withAnnotation('reconcile-requested-at', 'a', { lastHandledReconcileAt: 'a' }),
    ],
    ['a pause the status shows', withAnnotation('paused', 'true', paused)],
    ['no pause', withAnnotation('paused', 'false')],
    ['an annotation that is no text', withAnnotation('paused', 7)],
  ])('suppresses %s', (_, object) => {
    expect(decideForwarding('MODIFIED', object)).toBeUndefined();
  });

  test('forwards every deletion', () => {
    expect(decideForwarding('DELETED', settled)).toBe('Deleted');
    expect(decideForwarding('DELETED', undefined)).toBe('Deleted');
  });

  test('names the first reason if several apply', () => {
    const object = withMetadata({ generation: 3, deletionTimestamp: 'now' });
    expect(decideForwarding('MODIFIED', object)).toBe('SpecChanged');
  });

  test('survives any JSON, and any JSON as metadata and status', () => {
    const json = fc.jsonValue();
    fc.assert(
      fc.property(json, json, json, (any, metadata, status) => {
        decideForwarding('MODIFIED', any);
        decideForwarding('ADDED', { metadata, status });
        decideForwarding('MODIFIED', {
          metadata: { generation: 1, annotations: metadata },
          status: { observedGeneration: 1, conditions: status },
        });
      }),
    );
  });
});
