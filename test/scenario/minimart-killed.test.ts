import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helmOperators } from '../../functions/helm/operator.ts';
import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';
import type { Kind } from '../../runtime/operator.ts';
import {
  type ChildrenSystem,
  deploymentKind,
  startChildrenSystem,
} from '../helpers/children-system.ts';
import { freezeUntilKilled } from '../helpers/killed-runs.ts';
import { until } from '../helpers/until.ts';

const minimart = helmOperators.find(({ name }) => name === 'minimart');
if (!minimart) throw new Error('there must be an operator minimart');
const secretKind: Kind = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' };

let folder: string;
let plane: ControlPlane;
let system: ChildrenSystem;

/** On a control plane of its own, so that its API server can be frozen. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'podless-killed-'));
  plane = await startControlPlane({ users: [], full: true });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, plane.kubeconfig('admin'));
  const options = { kubeconfig, auditLog: false, functionTimeout: 4 };
  system = await startChildrenSystem(minimart, options);
});

afterAll(async () => {
  await system?.stop();
  await plane?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What Helm has stored of a release, oldest first. */
const revisionsOf = async (name: string): Promise<readonly (string | undefined)[]> =>
  (await system.list(secretKind, `owner=helm,name=${name}`))
    .map(({ metadata: { labels = {} } }) => labels)
    .toSorted((one, other) => Number(one['version']) - Number(other['version']))
    .map((labels) => labels['status']);

/** Creates one after the other until one is met while Helm is at work on it: that takes a moment only. */
async function meetInTheMiddle(): Promise<string> {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const name = `mart-${attempt}`;
    await system.create(name, {});
    const [status] = await until(
      async () => {
        const revisions = await revisionsOf(name);
        return revisions.length > 0 ? revisions : undefined;
      },
      { seconds: 60, what: async () => `a release ${name}` },
    );
    if (status === 'pending-install') return name;
  }
  throw new Error('Helm was never met at work');
}

test('a function that is killed in the middle of Helm’s work is followed by one that ends it', async () => {
  const name = await meetInTheMiddle();
  await freezeUntilKilled(plane, system.http, minimart.name);
  await system.reachesCondition(name, ({ status }) => status === 'True', 'Ready', 120);
  const revisions = await revisionsOf(name);
  expect(revisions.at(-1)).toBe('deployed');
  expect(revisions.filter((status) => status?.startsWith('pending'))).toEqual([]);
  const made = await system.list(deploymentKind, `app.kubernetes.io/instance=${name}`);
  expect(made).toHaveLength(1);
});
