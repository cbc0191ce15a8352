import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import type { Operator } from '../../runtime/operator.ts';
import { synthesize, type Template } from './synthesize.ts';
import { functionsOf, physicalNameOf, propertiesOf, resourcesOf } from './template-queries.ts';

const a = synthesize({ clusters: 'a', tables: 'orders' });

/** Ids of resources that are not the same in the second template, of all in the first. */
const changed = (before: Template, after: Template): readonly string[] =>
  Object.keys(before.Resources).filter(
    (id) => JSON.stringify(before.Resources[id]) !== JSON.stringify(after.Resources[id]),
  );

/** A change of these makes CloudFormation delete one thing and create another. */
const identities = ({ Resources }: Template, ids: readonly string[]) =>
  ids.map((id) => {
    const resource = Resources[id];
    return [id, resource?.Type, resource && physicalNameOf(resource)];
  });

describe('one more cluster', () => {
  const ba = synthesize({ clusters: 'b,a', tables: 'orders' });

  test('replaces nothing, wherever in the list it stands', () => {
    const ids = Object.keys(a.Resources);
    expect(identities(ba, ids)).toEqual(identities(a, ids));
  });

  test('changes only who may ask for which cluster, what is told to shared functions, and the dashboard', () => {
    const shared = operators.length + 1;
    const types = changed(a, ba).map((id) => a.Resources[id]?.Type);
    expect(types.sort()).toEqual([
      'AWS::CloudWatch::Dashboard',
      ...Array<string>(shared).fill('AWS::IAM::Policy'),
      ...Array<string>(shared).fill('AWS::Lambda::Function'),
    ]);
    expect(changed(a, ba).filter((id) => id.startsWith('Watcher'))).toEqual([]);
  });

  test('brings a watcher, a way in for the others, and alarms', () => {
    const added = Object.entries(ba.Resources).filter(([id]) => !(id in a.Resources));
    const names = added.map(([, resource]) => physicalNameOf(resource)).filter(Boolean);
    expect(names).toContain('podless-watcher-b');
    expect(names).toContain('watcher.b');
    expect(names).toContain('resync.b.ddbctldpjob');
    expect(names).toContain('podless-watcher-b-silent');
    expect(added.filter(([, { Type }]) => Type === 'AWS::EKS::AccessEntry')).toHaveLength(
      operators.length + 2,
    );
  });
});

test('one more table changes the rights on tables and nothing else', () => {
  const more = synthesize({ clusters: 'a', tables: 'sessions,orders' });
  expect(Object.keys(more.Resources)).toEqual(Object.keys(a.Resources));
  const ids = changed(a, more);
  expect(ids.map((id) => a.Resources[id]?.Type)).toEqual(['AWS::IAM::Policy', 'AWS::IAM::Policy']);
});

describe('one more operator', () => {
  const config = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
  const second: Operator = {
    name: 'my-own-shell',
    kind: { group: 'shell.example', version: 'v1', kind: 'MyOwnShell', plural: 'myownshells' },
    finalizer: 'shell.example/cleanup',
    owns: [
      { ...config, labelSelector: 'a=b', verbs: ['patch'] },
      {
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
        plural: 'deployments',
        labelSelector: 'a',
        verbs: [],
      },
    ],
    resyncSeconds: 3600,
    timeoutSeconds: 60,
    memoryMegabytes: 256,
    maxConcurrency: 2,
    maxReceives: 3,
    rbac: [],
    iam: [],
  };
  const two = synthesize({ clusters: 'a', tables: 'orders' }, [second, ...operators]);

  test('replaces nothing, wherever in the list it stands', () => {
    const ids = Object.keys(a.Resources);
    expect(identities(two, ids)).toEqual(identities(a, ids));
    expect(changed(a, two).filter((id) => id.startsWith('Reconciler'))).toEqual([]);
  });

  test('gets all its parts from its declaration', () => {
    const added = Object.entries(two.Resources).filter(([id]) => !(id in a.Resources));
    const names = added.map(([, resource]) => physicalNameOf(resource)).filter(Boolean);
    for (const part of ['inbox', 'inbox-dlq', 'work.fifo', 'work-dlq.fifo']) {
      expect(names).toContain(`podless-my-own-shell-${part}`);
    }
    expect(names).toContain('resync.a.my-own-shell');
    expect(functionsOf(two).get('podless-my-own-shell')).toMatchObject({
      Timeout: 60,
      Environment: { Variables: { PODLESS_WORK_MY_OWN_SHELL: expect.anything() } },
    });
    expect(functionsOf(two).get('podless-resync')).toMatchObject({
      Environment: { Variables: { PODLESS_INBOX_MY_OWN_SHELL: expect.anything() } },
    });
  });

  test('has no second role if none of its rights are for one object at a time', () => {
    const ids = resourcesOf(two, 'AWS::IAM::Role').map(([id]) => id);
    expect(ids.filter((id) => id.includes('ScopedRole'))).toHaveLength(1);
    const environment = functionsOf(two).get('podless-my-own-shell')?.['Environment'];
    expect(JSON.stringify(environment)).not.toContain('PODLESS_SCOPED_ROLE');
  });

  test.each(['watcher', 'watcher-a', 'resync', 'Shell', 'shell_1', 'x'.repeat(41), 'ddbctldpjob'])(
    'cannot be called %s',
    (name) => {
      const values = { clusters: 'a', tables: 'orders' };
      expect(() => synthesize(values, [...operators, { ...second, name }])).toThrow(
        `got ${JSON.stringify(name)}`,
      );
    },
  );
});

describe('some operators only', () => {
  const some = synthesize({ clusters: 'a', tables: 'orders', operators: 'goop,ddbctldpjob' });
  const names = [...functionsOf(some).keys()];

  test('are deployed with what all share, and with nothing of the others', () => {
    expect(names.sort()).toEqual([
      'podless-ddbctldpjob',
      'podless-goop',
      'podless-resync',
      'podless-watcher-a',
    ]);
    expect(JSON.stringify(some)).not.toMatch(/minimart|collector/i);
  });

  test('are the same as among all', () => {
    const ids = Object.keys(some.Resources);
    expect(identities(a, ids)).toEqual(identities(some, ids));
    expect(changed(some, a).filter((id) => id.startsWith('Reconciler'))).toEqual([]);
  });
});

test('there is room for more clusters and kinds', () => {
  const five = synthesize({ clusters: 'a,b,c,d,e', tables: 'orders' });
  // CloudFormation takes no more.
  expect(Object.keys(five.Resources).length).toBeLessThanOrEqual(500);
});

test('a cluster may be called like a part of the stack', () => {
  const clusters = 'Function,Role,Logs,Access,Schedules,Default,Resource,constructor';
  const functions = functionsOf(synthesize({ clusters, tables: 'orders' }));
  for (const cluster of clusters.split(','))
    expect([...functions.keys()]).toContain(`podless-watcher-${cluster}`);
});

describe('a long cluster name', () => {
  const start = 'c'.repeat(95);
  const clusters = `${start}-east,${start}-west`;
  const template = synthesize({ clusters, tables: 'orders' });

  test('is cut where AWS allows less, and stays unlike any other', () => {
    for (const type of ['AWS::Lambda::Function', 'AWS::Scheduler::Schedule']) {
      const names = resourcesOf(template, type).map(([, one]) => physicalNameOf(one) ?? '');
      expect(new Set(names).size).toBe(names.length);
      expect(Math.max(...names.map(({ length }) => length))).toBe(64);
    }
  });

  test('is cut in the same way every time', () => {
    const again = synthesize({ clusters: `${start}-west`, tables: 'orders' });
    const names = [...functionsOf(template).keys()];
    for (const name of functionsOf(again).keys()) expect(names).toContain(name);
  });

  test('is whole where it matters', () => {
    const entries = propertiesOf(template, 'AWS::EKS::AccessEntry');
    const names = new Set(entries.map(({ ClusterName }) => ClusterName));
    expect(names).toEqual(new Set(clusters.split(',')));
  });
});
