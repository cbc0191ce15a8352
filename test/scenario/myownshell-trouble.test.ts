import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { myownshell } from '../../functions/myownshell/operator.ts';
import type { Condition } from '../../runtime/kube/objects.ts';
import { storeBeforeRules } from '../helpers/children-crd.ts';
import {
  type ChildrenSystem,
  configMapKind,
  deploymentKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind, finalizer = '' } = myownshell;
const paused = { 'podless.dev/paused': 'true' };
const unpause = { metadata: { annotations: { 'podless.dev/paused': null } } };
const isTrue = ({ status }: Condition): boolean => status === 'True';
const isReason = (reason: string) => (condition: Condition) => condition.reason === reason;

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(myownshell);
});
afterAll(() => system?.stop());

const readyShell = async (name: string) => {
  await system.create(name, { size: 1 });
  return system.reachesCondition(name, isTrue);
};

/** A Deployment that has nothing to do with us, but for what is given. */
const foreignDeployment = (name: string, metadata: object = {}) => {
  const labels = { app: 'myownshell', myownshell_cr: name };
  const containers = [{ name: 'busybox', image: 'busybox:latest' }];
  return system.admin.create(deploymentKind, 'default', {
    metadata: { name, ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
};

describe('a name that is taken', () => {
  test('is told with its owner, what is there is not touched, and it is used once it is free', async () => {
    const name = 'taken';
    await foreignDeployment(name, { labels: { theirs: 'yes' } });
    const before = await system.reaches(deploymentKind, name, ({ status }) => status.readyReplicas);
    await system.create(name, { size: 2 });
    const told = await system.reachesCondition(name, isReason('Conflict'));
    expect(told).toMatchObject({ status: 'False' });
    expect(told.message).toContain(`Deployment default/${name}`);
    expect(await system.conditionOf(name, 'Conflict')).toMatchObject({ status: 'True' });
    expect(await system.find(deploymentKind, name)).toEqual(before);
    expect(await system.find(configMapKind, name)).toBeUndefined();

    await system.remove(deploymentKind, name);
    await system.isGone(deploymentKind, name);
    await system.byHand(name);
    await system.reachesCondition(name, isTrue);
    expect(await system.conditionOf(name, 'Conflict')).toBeUndefined();
    await system.isQuiet();
    const writes = await system.writes();
    await system.byHand(name);
    expect(await system.writes()).toEqual(writes);
  });

  test('by another controller is told by its kind and name', async () => {
    const name = 'controlled';
    const owner = await system.admin.create(configMapKind, 'default', {
      metadata: { name: 'master' },
    });
    const ownerReferences = [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'master',
        uid: owner.metadata.uid,
        controller: true,
      },
    ];
    await system.admin.create(configMapKind, 'default', {
      metadata: { name, ownerReferences },
      data: { theirs: 'yes' },
    });
    await system.create(name, { size: 1 });
    const { message } = await system.reachesCondition(name, isTrue, 'Conflict');
    expect(message).toBe(
      `ConfigMap default/${name} exists already and belongs to ConfigMap master`,
    );
    expect(await system.find(deploymentKind, name)).toBeUndefined();
    await system.delete(name);
    await system.isGone(kind, name);
    expect(await system.find(configMapKind, name)).toMatchObject({ data: { theirs: 'yes' } });
  });
});

describe('a Deployment that the old operator made, with its finalizer on it', () => {
  const oldDeployment = async (name: string) => {
    const { metadata } = await system.create(name, { size: 2 }, { annotations: paused });
    await system.reachesCondition(name, isTrue, 'Paused');
    const { apiVersion, kind: ownerKind } = (await system.get(name)) ?? {};
    const owner = { apiVersion, kind: ownerKind, name, uid: metadata.uid };
    await foreignDeployment(name, {
      finalizers: [finalizer],
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    });
  };

  test('is taken over and loses it', async () => {
    await oldDeployment('inherited');
    await system.patch('inherited', unpause);
    await system.reachesCondition('inherited', isTrue);
    const deployment = await system.find(deploymentKind, 'inherited');
    expect(deployment?.metadata.finalizers).toBeUndefined();
    expect(deployment?.spec.replicas).toBe(2);
  });

  test('may go if it was deleted already, and is made anew', async () => {
    await oldDeployment('hanging');
    await system.remove(deploymentKind, 'hanging');
    const old = await system.find(deploymentKind, 'hanging');
    expect(old?.metadata.deletionTimestamp).toBeDefined();
    await system.patch('hanging', unpause);
    await system.reachesCondition('hanging', isTrue);
    const anew = await system.find(deploymentKind, 'hanging');
    expect(anew?.metadata.uid).not.toBe(old?.metadata.uid);
  });
});

describe('bad input', () => {
  test.each([
    [{ size: -1 }, 'spec.size'],
    [{ size: 10_001 }, 'spec.size'],
    [{ size: 2_147_483_648 }, 'spec.size'],
    [{ size: 9_999_999_999_999 }, 'spec.size'],
    [{ size: 1.5 }, 'spec.size'],
    [{ size: 'three' }, 'spec.size'],
    [{}, 'spec.size'],
    [undefined, 'spec'],
  ])('%j is refused at admission, by the name of the field', async (spec, field) => {
    expect(await system.refusal('refused', spec)).toContain(`${field}: `);
  });

  test('that was stored before the CRD had its rules is told, and applies nothing', async () => {
    const specs = {
      'old-negative': { size: -1 },
      'old-huge': { size: 4_000_000_000 },
      'old-none': {},
    };
    await storeBeforeRules(system.admin, myownshell, specs);
    for (const name of Object.keys(specs)) {
      const told = await system.reachesCondition(name, isReason('InvalidSpec'));
      expect(told.message).toContain('spec.size must be a whole number from 0 to 10000, got ');
      expect(await system.find(deploymentKind, name)).toBeUndefined();
      await system.delete(name);
      await system.isGone(kind, name);
    }
  });

  test('a name of 63 characters works, a longer one is told', async () => {
    const name = `${'n'.repeat(31)}.${'m'.repeat(31)}`;
    await readyShell(name);
    await system.create(`${name}x`, { size: 1 });
    const told = await system.reachesCondition(`${name}x`, isReason('InvalidSpec'));
    expect(told.message).toContain('metadata.name must have at most 63 characters');
    expect(await system.find(deploymentKind, `${name}x`)).toBeUndefined();
    await system.delete(`${name}x`);
    await system.isGone(kind, `${name}x`);
  });
});
