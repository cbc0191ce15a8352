import { afterAll, beforeAll, expect, test } from 'vitest';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/dynamodb-fault-proxy.ts';
import { isWrite, readAudit } from '../helpers/runtime-audit.ts';
import { createPartitions, type Partitions } from '../helpers/runtime-partitions.ts';
import { type Job, startTestSystem, type TestSystem } from '../helpers/system.ts';
import { until } from '../helpers/until.ts';

const JOBS = 1_000;
const ITEMS = 5;
const CONNECTIONS = 16;
const RESYNC_SECONDS = 5;

let system: TestSystem;
let partitions: Partitions;
let hanging: FaultProxy;

beforeAll(async () => {
  system = await startTestSystem({ auditLog: true, resync: RESYNC_SECONDS });
  partitions = await createPartitions(system.dynamodb);
  hanging = await startFaultProxy(system.dynamodb, { hang: 1 });
});

afterAll(async () => {
  await system?.stop();
  await hanging?.stop();
});

const names = Array.from({ length: JOBS }, (_, index) => `job-${index}`);

/** Side by side, so many at a time. */
async function forEach(all: readonly string[], work: (name: string) => Promise<unknown>) {
  const next = all.values();
  const lane = async () => {
    for (const name of next) await work(name);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

async function allJobs(): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  let next: string | undefined;
  do {
    const page = await system.admin.list(ddbctldpjob.kind, {
      limit: 500,
      ...(next !== undefined && { continue: next }),
    });
    jobs.push(...(page.items as readonly Job[]));
    next = page.continue;
  } while (next !== undefined);
  return jobs;
}

const completed = async () =>
  (await allJobs()).filter(({ status }) => status?.phase === 'Completed').length;

/** Messages in all queues, dead-letter queues too. */
async function messagesLeft(): Promise<number> {
  const metrics = await (await fetch(`${system.http}/metrics`)).text();
  const counts = metrics.matchAll(/^podless_(?:queue_messages|dead_letters)\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('a thousand jobs at once all complete with exact counts, though some can get no answer', async () => {
  await forEach(names, (name) => partitions.fill(name, ITEMS));
  for (const name of ['blocked-1', 'blocked-2', 'blocked-3']) {
    await system.createJob(name, partitions.specOf(name, { endpointURL: hanging.url }));
  }
  const started = systemClock.now();
  await forEach(names, (name) => system.createJob(name, partitions.specOf(name)));
  const applied = systemClock.now();
  await until(async () => ((await completed()) === JOBS ? true : undefined), {
    seconds: 240,
    what: async () => `${JOBS} jobs to complete; ${await completed()} have`,
  });
  const seconds = (systemClock.now() - started) / 1000;
  console.info('scale', {
    jobs: JOBS,
    appliedInSeconds: (applied - started) / 1000,
    seconds,
    jobsPerSecond: Math.round(JOBS / seconds),
  });

  const jobs = await allJobs();
  const wrong = jobs.filter(
    ({ metadata, status }) =>
      metadata.name.startsWith('job-') &&
      (status?.deletedItems !== ITEMS || status.deletedItemsExact === false),
  );
  expect(wrong.map(({ metadata, status }) => [metadata.name, status])).toEqual([]);
  const blocked = jobs.filter(({ metadata }) => metadata.name.startsWith('blocked-'));
  expect(blocked.map(({ status }) => status?.phase)).not.toContain('Completed');
  let left = 0;
  await forEach(names, async (name) => {
    left += await partitions.left(name);
  });
  expect(left).toBe(0);
});

test('a quiet system looks at every object again and writes nothing at all', async () => {
  for (const name of ['blocked-1', 'blocked-2', 'blocked-3']) await system.deleteJob(name);
  await until(async () => ((await allJobs()).length === JOBS ? true : undefined), {
    seconds: 60,
    what: async () => 'the blocked jobs to go',
  });
  await until(async () => ((await messagesLeft()) === 0 ? true : undefined), {
    seconds: 120,
    what: async () => `the queues to be empty; there are ${await messagesLeft()} messages`,
  });
  const before = await allJobs();
  const readsSince = (await readAudit(system.cluster.auditLogFile)).length;
  await systemClock.sleep(2 * RESYNC_SECONDS * 1000);
  const during = (await readAudit(system.cluster.auditLogFile)).slice(readsSince);
  const looks = during.filter(
    ({ user, verb }) => user.username === 'podless-ddbctldpjob' && verb === 'get',
  );
  console.info('quiet', { requests: during.length, looks: looks.length });
  expect(during.filter(isWrite).map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
  expect(new Set(looks.map(({ objectRef }) => objectRef?.name)).size).toBe(JOBS);
  expect(await allJobs()).toEqual(before);
  await until(async () => ((await messagesLeft()) === 0 ? true : undefined), {
    seconds: 60,
    what: async () => `the queues to be empty; there are ${await messagesLeft()} messages`,
  });
});
