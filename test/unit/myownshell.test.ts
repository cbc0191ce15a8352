import { describe, expect, test } from 'vitest';
import { configMapOf, deploymentOf } from '../../functions/myownshell/children.ts';
import { parseSpec } from '../../functions/myownshell/spec.ts';
import { describeFailure, report } from '../../functions/myownshell/status.ts';
import { ConflictError } from '../../runtime/children/conflict.ts';
import type { SyncedChild } from '../../runtime/children/sync.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { apiVersionOf } from '../../runtime/operator.ts';

const shell = (spec: unknown, name = 'shell', status: object = {}): KubeObject => ({
  apiVersion: 'my-first-operator.jgato.io/v1alpha1',
  kind: 'MyOwnShell',
  metadata: { name, namespace: 'default', uid: '1', resourceVersion: '1', generation: 1 },
  spec,
  status,
});

describe('the spec', () => {
  test.each([0, 1, 10_000])('takes a size of %d', (size) => {
    expect(parseSpec(shell({ size }))).toEqual({ ok: true, value: { size } });
  });

  test.each([
    [undefined, 'nothing'],
    [{}, 'nothing'],
    [{ size: -1 }, '-1'],
    [{ size: 10_001 }, '10001'],
    [{ size: 1.5 }, '1.5'],
    [{ size: '3' }, '"3"'],
    [{ size: null }, 'null'],
    [[3], 'nothing'],
  ])('of %j is refused by field and value', (spec, shown) => {
    const problem = `spec.size must be a whole number from 0 to 10000, got ${shown}`;
    expect(parseSpec(shell(spec))).toEqual({ ok: false, problem });
  });

  test('shows only the beginning of a long value', () => {
    const parsed = parseSpec(shell({ size: 'x'.repeat(100_000) }));
    expect(parsed.ok ? '' : parsed.problem.length).toBeLessThan(300);
  });

  test('goes with a name of up to 63 characters', () => {
    expect(parseSpec(shell({ size: 1 }, 'n'.repeat(63)))).toMatchObject({ ok: true });
    expect(parseSpec(shell({ size: 1 }, 'n'.repeat(64)))).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^metadata\.name must have at most 63 characters.*got 64$/),
    });
  });
});

/** As it would be a moment after the sync. */
const synced = (
  status: object,
  over: Partial<SyncedChild> = {},
  replicas = 3,
): readonly SyncedChild[] => {
  const object = shell({ size: replicas });
  const manifests = [deploymentOf, configMapOf].map((make) => make(object, { size: replicas }));
  return manifests.map((manifest, index) => ({
    manifest,
    live: {
      ...object,
      apiVersion: apiVersionOf(manifest.ref.kind),
      kind: manifest.ref.kind.kind,
      spec: { replicas },
      ...(index === 0 && { status: { observedGeneration: 1, ...status } }),
    },
    leaving: false,
    plan: { action: 'none', subject: '', detail: '' },
    ...(index === 0 && over),
  }));
};

describe('the Ready condition', () => {
  const all = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };

  test('is True when every pod is ready', () => {
    expect(report(synced(all))).toEqual({
      status: { replicas: 3, readyReplicas: 3 },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'DeploymentReady',
          message: '3 of 3 pods are ready',
        },
      ],
    });
  });

  test('is True for no pods, where none are asked for', () => {
    const { status, conditions } = report(synced({}, {}, 0));
    expect(status).toEqual({ replicas: 0, readyReplicas: 0 });
    expect(conditions).toMatchObject([{ status: 'True', message: '0 of 0 pods are ready' }]);
  });

  test('is False with the count while some are not', () => {
    const { conditions } = report(synced({ ...all, readyReplicas: 2, availableReplicas: 2 }));
    expect(conditions).toMatchObject([
      { status: 'False', reason: 'DeploymentNotReady', message: '2 of 3 pods are ready' },
    ]);
  });

  test('is False while the counts are about an older spec', () => {
    const { conditions } = report(synced({ ...all, observedGeneration: 0 }));
    expect(conditions).toMatchObject([{ status: 'False', reason: 'DeploymentNotReady' }]);
  });

  test('is False, and another look is asked for, while the Deployment is on its way out', () => {
    const { status, conditions, requeue } = report(synced(all, { leaving: true }));
    expect(status).toEqual({ replicas: 0, readyReplicas: 0 });
    expect(conditions).toMatchObject([{ status: 'False', reason: 'ChildLeaving' }]);
    expect(requeue).toBeDefined();
  });
});

describe('a failure', () => {
  const object = shell({ size: 3 }, 'shell', { replicas: 3, readyReplicas: 3, conditions: [] });
  const { ref } = deploymentOf(object, { size: 3 });

  test('of the spec or by a conflict leaves no old counts', () => {
    const conflict = new ConflictError(ref, 'Tenant acme');
    for (const error of [new TerminalError('InvalidSpec', 'x'), conflict]) {
      expect(describeFailure({ object, error, now: 0 }).status).toEqual({});
    }
    expect(describeFailure({ object, error: conflict, now: 0 }).conditions).toEqual([
      {
        type: 'Conflict',
        status: 'True',
        reason: 'NameTaken',
        message: 'Deployment default/shell exists already and belongs to Tenant acme',
      },
    ]);
  });

  test('that passes leaves the counts, and an old conflict as unknown', () => {
    const error = new TransientError('DeadlineExceeded', 'too slow');
    const before = { type: 'Conflict', status: 'True', reason: 'x', message: '' } as const;
    const conditions = [{ ...before, lastTransitionTime: '' }];
    const conflicting = { ...object, status: { ...object.status, conditions } };
    expect(describeFailure({ object: conflicting, error, now: 0 })).toEqual({
      status: { replicas: 3, readyReplicas: 3 },
      conditions: [
        { type: 'Conflict', status: 'Unknown', reason: 'DeadlineExceeded', message: 'too slow' },
      ],
    });
  });
});
