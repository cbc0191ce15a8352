import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { myownshell } from '../../functions/myownshell/operator.ts';
import { reconciler } from '../../functions/myownshell/reconciler.ts';
import {
  type Any,
  type ChildrenSystem,
  configMapKind,
  deploymentKind,
  podKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';

const { kind } = myownshell;
const isTrue = ({ status }: { readonly status: string }): boolean => status === 'True';
const isFalse = ({ status }: { readonly status: string }): boolean => status === 'False';
const container = ({ spec }: Any) => spec.template.spec.containers[0];

let system: ChildrenSystem;
beforeAll(async () => {
  system = await startChildrenSystem(myownshell);
});
afterAll(() => system?.stop());

/** A shell of its own for each test, ready. */
const readyShell = async (name: string, size = 1) => {
  await system.create(name, { size });
  return system.reachesCondition(name, isTrue);
};

describe('the sample', () => {
  const name = 'myownshell-sample';

  test('becomes a Deployment and a ConfigMap, and is Ready when the pods are', async () => {
    const file = join(import.meta.dirname, '..', '..', 'crds', 'samples', 'myownshell.yaml');
    const sample = parse(await readFile(file, 'utf8')) as Any;
    await system.create(sample.metadata.name, sample.spec);
    const ready = await system.reachesCondition(name, isTrue);
    expect(ready).toMatchObject({ reason: 'DeploymentReady', message: '3 of 3 pods are ready' });
    const shell = await system.get(name);
    expect(shell?.status).toMatchObject({ replicas: 3, readyReplicas: 3, observedGeneration: 1 });
    expect(shell?.metadata.finalizers).toEqual(['myownshell.my-first-operator.jgato.io/finalizer']);

    const labels = { app: 'myownshell', myownshell_cr: name };
    const deployment = await system.find(deploymentKind, name);
    expect(deployment?.metadata.labels).toMatchObject(labels);
    expect(deployment?.metadata.finalizers).toBeUndefined();
    const { replicas, selector, template } = deployment?.spec ?? {};
    expect({ replicas, selector }).toEqual({ replicas: 3, selector: { matchLabels: labels } });
    expect(template.metadata.labels).toEqual(labels);
    expect(template.spec.containers).toHaveLength(1);
    expect(template.spec.containers[0]).toMatchObject({
      name: 'busybox',
      image: 'busybox:latest',
      command: [
        'sh',
        '-c',
        'echo The app is running, You can now ssh into for a while! && sleep 99999999',
      ],
    });
    const configMap = await system.find(configMapKind, name);
    expect(configMap).toMatchObject({ data: { replicas: '3' } });
    for (const child of [deployment, configMap]) {
      expect(child?.metadata.ownerReferences).toEqual([
        {
          apiVersion: 'my-first-operator.jgato.io/v1alpha1',
          kind: 'MyOwnShell',
          name,
          uid: shell?.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
  });

  test('is written no more once it is as it should be', async () => {
    await system.isQuiet();
    const before = await system.writes();
    expect(await system.byHand(name)).toMatchObject({ outcome: 'done' });
    expect(await system.byHand(name)).toMatchObject({ outcome: 'done' });
    expect(await system.writes()).toEqual(before);
  });

  test('is resized, down to nothing and up again', async () => {
    for (const size of [5, 0, 2]) {
      await system.patch(name, { spec: { size } });
      await system.reaches(kind, name, ({ status }) => status.readyReplicas === size);
      const ready = await system.reachesCondition(name, isTrue);
      expect(ready.message).toBe(`${size} of ${size} pods are ready`);
      expect(await system.find(deploymentKind, name)).toMatchObject({ spec: { replicas: size } });
      expect(await system.find(configMapKind, name)).toMatchObject({
        data: { replicas: String(size) },
      });
    }
  });
});

describe('what somebody changes by hand', () => {
  const name = 'edited';
  beforeAll(() => readyShell(name));

  const edit = (body: object) =>
    system.admin.apply(system.refOf(deploymentKind, name), body, { fieldManager: 'somebody' });
  const settles = (is: (deployment: Any) => boolean) =>
    system.reaches(deploymentKind, name, is, 15);

  test('is put right: replicas, image, command, labels, owner', async () => {
    await edit({ spec: { replicas: 7 } });
    await settles(({ spec }) => spec.replicas === 1);
    const containers = [{ name: 'busybox', image: 'alpine', command: ['true'] }];
    await edit({ spec: { template: { spec: { containers } } } });
    await settles((one) => container(one).image === 'busybox:latest');
    expect(container((await system.find(deploymentKind, name)) as Any).command[0]).toBe('sh');
    await system.patchChild(deploymentKind, name, {
      metadata: { labels: { app: 'other', 'podless.dev/operator': null } },
    });
    await settles(({ metadata }) => metadata.labels?.['app'] === 'myownshell');
    await system.patchChild(deploymentKind, name, { metadata: { ownerReferences: null } });
    await settles(({ metadata }) => metadata.ownerReferences?.length === 1);
  });

  test('stays if it is not ours', async () => {
    const containers = [{ name: 'busybox', env: [{ name: 'MINE', value: 'x' }] }];
    await edit({
      metadata: { annotations: { mine: 'yes' }, labels: { team: 'a' } },
      spec: { minReadySeconds: 1, template: { spec: { containers } } },
    });
    await system.patchChild(deploymentKind, name, { spec: { replicas: 4 } });
    const after = await settles(({ spec }) => spec.replicas === 1);
    expect(after.metadata.annotations).toMatchObject({ mine: 'yes' });
    expect(after.metadata.labels).toMatchObject({ team: 'a', app: 'myownshell' });
    expect(after.spec.minReadySeconds).toBe(1);
    expect(container(after).env).toEqual([{ name: 'MINE', value: 'x' }]);
  });

  test('is made anew if it was deleted', async () => {
    const uid = (await system.find(deploymentKind, name))?.metadata.uid;
    await system.remove(deploymentKind, name);
    await settles(({ metadata }) => metadata.uid !== uid);
    await system.remove(configMapKind, name);
    await system.reaches(configMapKind, name, ({ metadata }) => !metadata.deletionTimestamp, 15);
    await system.patchChild(configMapKind, name, { data: { replicas: '99', mine: 'yes' } });
    const configMap = await system.reaches(
      configMapKind,
      name,
      (one) => (one as unknown as { data: { replicas: string } }).data.replicas === '1',
      15,
    );
    expect(configMap).toMatchObject({ data: { mine: 'yes' } });
    await system.reachesCondition(name, isTrue);
  });
});

test('Ready goes back when the pods do, tells how many are ready, and comes again', async () => {
  const name = 'shaky';
  await readyShell(name, 3);
  await system.cordon(true);
  const [pod] = await system.list(podKind, `myownshell_cr=${name}`);
  await system.remove(podKind, pod?.metadata.name ?? '');
  const back = await system.reachesCondition(name, isFalse);
  expect(back).toMatchObject({ reason: 'DeploymentNotReady', message: '2 of 3 pods are ready' });
  await system.reaches(kind, name, ({ status }) => status.readyReplicas === 2);
  await system.cordon(false);
  await system.reachesCondition(name, isTrue);
});

describe('a dry run', () => {
  const name = 'planned';
  const paused = { 'podless.dev/paused': 'true' };
  const plan = () => system.planOf(reconciler, name);

  test('tells what would be made, and makes nothing', async () => {
    await system.create(name, { size: 2 }, { annotations: paused });
    await system.reachesCondition(name, isTrue, 'Paused');
    expect((await plan()).map(({ action, subject }) => [action, subject])).toEqual([
      ['create', `Deployment default/${name}`],
      ['create', `ConfigMap default/${name}`],
    ]);
    expect(await system.find(deploymentKind, name)).toBeUndefined();
  });

  test('tells what would be changed, field by field, and changes nothing', async () => {
    await system.patch(name, { metadata: { annotations: { 'podless.dev/paused': null } } });
    await system.reaches(kind, name, ({ status }) => status.readyReplicas === 2);
    await system.patch(name, { metadata: { annotations: paused }, spec: { size: 5 } });
    await system.reachesCondition(name, isTrue, 'Paused');
    const [deployment, configMap] = await plan();
    expect(deployment).toMatchObject({ action: 'change', subject: `Deployment default/${name}` });
    expect(deployment?.fields).toContainEqual({ path: 'spec.replicas', from: 2, to: 5 });
    expect(configMap?.fields).toContainEqual({ path: 'data.replicas', from: '2', to: '5' });
    expect(await system.find(deploymentKind, name)).toMatchObject({ spec: { replicas: 2 } });
  });

  test('by hand answers with the plan, and writes nothing', async () => {
    await system.isQuiet();
    const before = await system.writes();
    const { dryRun, plan } = await system.byHand('myownshell-sample', { dryRun: true });
    expect(dryRun).toBe(true);
    expect(plan.map(({ action }: { action: string }) => action)).toEqual(['none', 'none']);
    expect(await system.writes()).toEqual(before);
  });
});

test('the operator has the rights it uses, and uses the rights it has', async () => {
  const { owns } = myownshell;
  const granted = owns.flatMap(({ group, plural, verbs }) =>
    verbs.map((verb) => `${verb} ${group}/${plural}`),
  );
  const used = await system.rightsUsed();
  const onChildren = [...used].filter((right) =>
    owns.some(({ group, plural }) => right.endsWith(` ${group}/${plural}`)),
  );
  expect(onChildren.toSorted()).toEqual(granted.toSorted());
});
