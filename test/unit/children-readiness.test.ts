import { describe, expect, test } from 'vitest';
import { readinessOf } from '../../runtime/children/readiness.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';

const READY = { ready: true };
const waits = (why: string) => ({ ready: false, failed: false, why });
const failed = (why: string) => ({ ready: false, failed: true, why });

const object = (apiVersion: string, kind: string, rest: object): KubeObject => ({
  apiVersion,
  kind,
  ...rest,
  metadata: {
    name: 'x',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    generation: 2,
    ...(rest as { readonly metadata?: object }).metadata,
  },
});

const condition = (type: string, status = 'True', rest: object = {}) => ({ type, status, ...rest });
const seen = { observedGeneration: 2 };

describe('a Deployment', () => {
  const deployment = (status: object, spec: object = { replicas: 3 }) =>
    readinessOf(object('apps/v1', 'Deployment', { spec, status }));
  const full = { ...seen, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
  const stuck = condition('Progressing', 'False', {
    reason: 'ProgressDeadlineExceeded',
    message: 'no progress',
  });
  const refused = condition('ReplicaFailure', 'True', { message: 'exceeded quota: pods' });

  test.each([
    ['all pods are there', full, READY],
    ['its controller has not looked at all', {}, waits('its controller has not seen it yet')],
    [
      'the counts are about an older spec',
      { ...full, observedGeneration: 1 },
      waits('its controller has not seen it yet'),
    ],
    ['none is there', seen, waits('0 of 3 pods are ready')],
    ['one is not available', { ...full, availableReplicas: 2 }, waits('2 of 3 pods are ready')],
    [
      'the ready ones are of an older version',
      { ...full, updatedReplicas: 1 },
      waits('1 of 3 pods are ready'),
    ],
    [
      'old ones are still there',
      { ...full, replicas: 4 },
      waits('1 pods of an older version are still there'),
    ],
    ['it is stuck', { ...full, availableReplicas: 0, conditions: [stuck] }, failed('no progress')],
    [
      'it progresses',
      { ...seen, conditions: [{ ...stuck, status: 'True' }] },
      waits('0 of 3 pods are ready'),
    ],
    [
      'pods are refused',
      { ...seen, conditions: [refused] },
      waits('0 of 3 pods are ready: exceeded quota: pods'),
    ],
  ])('of which %s', (_what, status, expected) => {
    expect(deployment(status)).toEqual(expected);
  });

  test('of no replicas is ready without any; of no number wants one', () => {
    expect(deployment(seen, { replicas: 0 })).toEqual(READY);
    expect(deployment(seen, {})).toEqual(waits('0 of 1 pods are ready'));
  });
});

describe('a StatefulSet', () => {
  const set = (status: object, updateStrategy?: object) =>
    readinessOf(
      object('apps/v1', 'StatefulSet', { spec: { replicas: 3, updateStrategy }, status }),
    );
  const full = { ...seen, replicas: 3, readyReplicas: 3, updatedReplicas: 3 };
  const old = { ...full, updatedReplicas: 1 };

  test.each([
    ['is complete', full, undefined, READY],
    [
      'is unseen',
      { ...full, observedGeneration: 1 },
      undefined,
      waits('its controller has not seen it yet'),
    ],
    ['lacks a pod', { ...full, readyReplicas: 2 }, undefined, waits('2 of 3 pods are ready')],
    ['is half updated', old, undefined, waits('2 pods of an older version are still there')],
    ['is updated down to its partition', old, { rollingUpdate: { partition: 2 } }, READY],
    ['is updated by hand', { ...full, updatedReplicas: 0 }, { type: 'OnDelete' }, READY],
  ])('that %s', (_what, status, strategy, expected) => {
    expect(set(status, strategy)).toEqual(expected);
  });
});

describe('a DaemonSet', () => {
  const daemons = (status: object, spec: object = {}) =>
    readinessOf(object('apps/v1', 'DaemonSet', { spec, status }));
  const full = { ...seen, desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2 };

  test.each([
    ['runs on every node', full, READY],
    ['is unseen', { ...full, observedGeneration: 1 }, waits('its controller has not seen it yet')],
    ['lacks a node', { ...full, numberReady: 1 }, waits('1 of 2 nodes are ready')],
    ['is half updated', { ...full, updatedNumberScheduled: 0 }, waits('0 of 2 nodes are ready')],
    ['has no node to run on', { ...seen, desiredNumberScheduled: 0 }, READY],
  ])('that %s', (_what, status, expected) => {
    expect(daemons(status)).toEqual(expected);
  });

  test('that is updated by hand does not wait for that', () => {
    const spec = { updateStrategy: { type: 'OnDelete' } };
    expect(daemons({ ...full, updatedNumberScheduled: 0 }, spec)).toEqual(READY);
  });
});

describe('a Job', () => {
  test.each([
    ['runs', {}, waits('is running')],
    ['is suspended', { conditions: [condition('Suspended')] }, waits('is suspended')],
    ['was resumed', { conditions: [condition('Suspended', 'False')] }, waits('is running')],
    ['is complete', { conditions: [condition('Complete')] }, READY],
    [
      'failed',
      { conditions: [condition('Failed', 'True', { message: 'limit' })] },
      failed('limit'),
    ],
    ['failed without a word', { conditions: [condition('Failed')] }, failed('it failed')],
    ['may fail', { conditions: [condition('Failed', 'False')] }, waits('is running')],
  ])('that %s', (_what, status, expected) => {
    expect(readinessOf(object('batch/v1', 'Job', { status }))).toEqual(expected);
  });
});

describe('other kinds', () => {
  test.each([
    ['Pending', [], waits('is Pending')],
    ['Running', [condition('Ready', 'False')], waits('is Running')],
    ['Running', [condition('Ready')], READY],
    ['Succeeded', [], READY],
    ['Failed', [], failed('evicted')],
  ])('a Pod in phase %s', (phase, conditions, expected) => {
    const status = { phase, conditions, message: 'evicted' };
    expect(readinessOf(object('v1', 'Pod', { status }))).toEqual(expected);
  });

  test('a claim is ready while it waits for its first pod, not when its volume is lost', () => {
    const claim = (phase: string) =>
      readinessOf(object('v1', 'PersistentVolumeClaim', { status: { phase } }));
    expect(claim('Pending')).toEqual(READY);
    expect(claim('Lost')).toEqual(failed('its volume is lost'));
  });

  test('what has no readiness is ready once it exists, also if another group has a kind of a known name', () => {
    expect(readinessOf(object('v1', 'ConfigMap', {}))).toEqual(READY);
    expect(readinessOf(object('example.com/v1', 'Job', {}))).toEqual(READY);
    expect(readinessOf(object('example.com/v1', 'constructor', {}))).toEqual(READY);
  });

  test('nothing that is being deleted is ready', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    for (const kind of ['ConfigMap', 'Pod'])
      expect(readinessOf(object('v1', kind, { metadata }))).toEqual(waits('is being deleted'));
  });
});
