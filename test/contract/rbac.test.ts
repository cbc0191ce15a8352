import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { operators } from '../../functions/operators.ts';
import { type Cluster, startOwnCluster } from '../../local/cluster.ts';
import { functionList } from '../../local/function-list.ts';
import { applyManifests } from '../../local/manifests.ts';
import { rbacManifests, rightsOf } from '../../runtime/kube/rbac.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import type { RbacRule } from '../../runtime/operator.ts';
import { until } from '../helpers/until.ts';

const NOBODY = 'nobody';
const functionNames = functionList.map(({ name }) => name);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startOwnCluster({ functionNames: [...functionNames, NOBODY] });
  await applyManifests(createKubeClient(cluster.admin));
});

afterAll(() => cluster?.stop());

/** Asks the API server, as the function itself. */
async function review(name: string, kind: string, spec: object): Promise<unknown> {
  const group = 'authorization.k8s.io';
  const plural = `${kind.toLowerCase()}s`;
  const client = createKubeClient(cluster.connectionOf(name));
  const answer = await client.create({ group, version: 'v1', kind, plural }, '', { spec });
  return answer.status;
}

const mayDo = async (name: string, resourceAttributes: object): Promise<boolean> => {
  const status = await review(name, 'SelfSubjectAccessReview', { resourceAttributes });
  return (status as { readonly allowed: boolean }).allowed;
};

/** One text for each verb on each resource. */
const flat = (rules: readonly RbacRule[]): readonly string[] =>
  [
    ...new Set(
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
        ),
      ),
    ),
  ].toSorted();

/** Everything an identity may do to resources, in any namespace. */
async function rightsOfIdentity(name: string): Promise<readonly string[]> {
  const status = await review(name, 'SelfSubjectRulesReview', { namespace: 'default' });
  return flat((status as { readonly resourceRules: readonly RbacRule[] }).resourceRules);
}

const declared = rightsOf(operators);

describe('crds/rbac.yaml', () => {
  test('is what follows from the operators', async () => {
    const file = join(import.meta.dirname, '../../crds/rbac.yaml');
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    expect(documents.map((document) => document.toJS())).toEqual(rbacManifests(operators));
  });

  test('binds every function to one role of its own, and nobody to a role with wildcards', () => {
    expect(declared.map(({ name }) => name).toSorted()).toEqual(functionNames.toSorted());
    for (const { name, rules } of declared) {
      expect(
        flat(rules).filter((right) => right.includes('*')),
        name,
      ).toEqual([]);
    }
  });
});

describe.each(declared)('the identity of $name', ({ name, rules }) => {
  test('may do exactly what is declared, beyond what everybody may', async () => {
    const everybody = new Set(await rightsOfIdentity(NOBODY));
    const own = async () => (await rightsOfIdentity(name)).filter((right) => !everybody.has(right));
    await until(async () => ((await own()).length > 0 ? true : undefined), {
      seconds: 20,
      what: async () => 'RBAC to take effect',
    });
    expect(await own()).toEqual(flat(rules));
  });

  test('is in its own group only, and not an administrator', async () => {
    const status = await review(name, 'SelfSubjectAccessReview', {
      resourceAttributes: { verb: '*', group: '*', resource: '*' },
    });
    expect(status).toMatchObject({ allowed: false });
    const group = 'authentication.k8s.io';
    const kind = { group, version: 'v1', kind: 'SelfSubjectReview', plural: 'selfsubjectreviews' };
    const { status: self } = await createKubeClient(cluster.connectionOf(name)).create(
      kind,
      '',
      {},
    );
    expect(self).toMatchObject({
      userInfo: {
        username: `podless-${name}`,
        groups: [`podless:${name}`, 'system:authenticated'],
      },
    });
  });

  test('may read Secrets only where Helm keeps releases in them, or a chart may hold them', async () => {
    const withHelm = operators.filter(({ tools }) => tools?.includes('helm'));
    const readers = withHelm.map((operator) => operator.name);
    const mayList = ['watcher', ...readers].includes(name);
    expect(await mayDo(name, { verb: 'list', resource: 'secrets' })).toBe(mayList);
    const one = { verb: 'get', resource: 'secrets', namespace: 'kube-system' };
    expect(await mayDo(name, one)).toBe(readers.includes(name));
  });

  test.each([
    { verb: 'create', resource: 'pods' },
    { verb: 'create', resource: 'pods', subresource: 'exec' },
    { verb: 'create', resource: 'serviceaccounts', subresource: 'token' },
    { verb: 'impersonate', resource: 'users' },
    { verb: 'impersonate', resource: 'groups', name: 'system:masters' },
    { verb: 'escalate', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
    { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
    { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
    { verb: 'patch', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    { verb: 'approve', group: 'certificates.k8s.io', resource: 'signers' },
  ])('may not $verb $group $resource $subresource', async (attributes) => {
    expect(await mayDo(name, attributes)).toBe(false);
  });

  test('may write, change and delete custom resources only where it is declared', async () => {
    for (const { kind } of operators) {
      for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection']) {
        const { group, plural: resource } = kind;
        const right = `${verb} ${group}/${resource}`;
        const allowed = await mayDo(name, { verb, group, resource, namespace: 'default' });
        expect(allowed, right).toBe(flat(rules).includes(right));
      }
    }
  });
});

test('only the reconciler with a time to live may delete its objects', () => {
  const deleters = declared.filter(({ rules }) =>
    flat(rules).some((one) => one.startsWith('delete')),
  );
  expect(deleters.map(({ name }) => name)).toEqual(
    operators
      .filter(({ rbac, owns }) =>
        flat([...rbac, ...owns.map(asRule)]).some((one) => one.startsWith('delete')),
      )
      .map(({ name }) => name),
  );
});

const asRule = ({
  group,
  plural,
  verbs,
}: (typeof operators)[number]['owns'][number]): RbacRule => ({
  apiGroups: [group],
  resources: [plural],
  verbs,
});
