import { afterAll, beforeAll, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { rightsOf } from '../../runtime/kube/rbac.ts';
import { readAudit, rightUsed } from '../helpers/runtime-audit.ts';
import { createPartitions, type Partitions } from '../helpers/runtime-partitions.ts';
import { startTestSystem, type TestSystem } from '../helpers/system.ts';
import { until } from '../helpers/until.ts';

let system: TestSystem;
let partitions: Partitions;

beforeAll(async () => {
  system = await startTestSystem({ auditLog: true, resync: 5 });
  partitions = await createPartitions(system.dynamodb);
});

afterAll(() => system?.stop());

/** The others have children to make: their scenarios look at what they use. */
const looked = ['watcher', 'resync', 'ddbctldpjob'];
const rights = rightsOf(operators).filter(({ name }) => looked.includes(name));

const granted = rights.flatMap(({ name, rules }) =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    verbs.map((verb) => `podless-${name}: ${verb} ${apiGroups[0]}/${resources[0]}`),
  ),
);

const audit = () => readAudit(system.cluster.auditLogFile);

test('every right that is granted is used by the life of one job, and no other is asked for', async () => {
  await partitions.fill('p', 50);
  await system.createJob('job', partitions.specOf('p', { ttlSecondsAfterFinished: 1 }));
  await system.jobIsGone('job', 60);
  expect(await partitions.left('p')).toBe(0);
  const used = async () =>
    new Set((await audit()).map((entry) => `${entry.user.username}: ${rightUsed(entry)}`));
  const unused = async () => {
    const seen = await used();
    return granted.filter((right) => !seen.has(right));
  };
  await until(async () => ((await unused()).length === 0 ? true : undefined), {
    seconds: 60,
    what: async () => `each of these rights to be used: ${(await unused()).join(', ')}`,
  });
  expect([...(await used())].toSorted()).toEqual([...new Set(granted)].toSorted());
});

test('no request of a function is refused', async () => {
  const refused = (await audit()).filter(({ responseStatus }) =>
    [401, 403].includes(responseStatus?.code ?? 0),
  );
  expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
});
