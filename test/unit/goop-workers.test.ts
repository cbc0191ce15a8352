import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideWorkers } from '../../functions/goop/decide-workers.ts';
import { isDone } from '../../functions/goop/job-state.ts';
import { parseSpec } from '../../functions/goop/spec.ts';
import { type WorkerJob, workerJob } from '../../functions/goop/worker-job.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';

const owner: KubeObject = {
  apiVersion: 'goop.example.com/v1alpha1',
  kind: 'Goop',
  metadata: { name: 'g', namespace: 'default', uid: '1', resourceVersion: '1' },
};

function workersOf(foo: string, count: number): readonly WorkerJob[] {
  const spec = parseSpec({ foo, job_count: count });
  if (!spec.ok) throw new Error(spec.problem);
  return Array.from({ length: count }, (_, index) => workerJob(index, owner, spec.value));
}

const COMPLETE = { type: 'Complete', status: 'True', reason: '', message: '' } as const;
const complete = (job: KubeObject): KubeObject => ({
  ...job,
  status: { conditions: [{ ...COMPLETE, lastTransitionTime: '' }] },
});
const leaving = (job: KubeObject): KubeObject => ({
  ...job,
  metadata: { ...job.metadata, deletionTimestamp: 'now' },
});
const jobOf = ({ manifest }: WorkerJob): KubeObject =>
  structuredClone({ apiVersion: 'batch/v1', kind: 'Job', ...manifest.body }) as KubeObject;

const namesOf = (items: readonly (WorkerJob | KubeObject)[]) =>
  items.map((item) => ('name' in item ? item.name : item.metadata.name));
const decide = (workers: readonly WorkerJob[], jobs: readonly KubeObject[], ...done: number[]) => {
  const decision = decideWorkers(workers, jobs, new Set(done));
  return Object.fromEntries(Object.entries(decision).map(([key, list]) => [key, namesOf(list)]));
};
const nothing = { apply: [], remove: [], keep: [], wait: [], done: [] };

describe('a worker', () => {
  const [worker] = workersOf('a', 1) as [WorkerJob];
  const job = jobOf(worker);

  test('that is missing is made', () => {
    expect(decide([worker], [])).toEqual({ ...nothing, apply: ['g-0'] });
  });

  test('that is missing but was done is not', () => {
    expect(decide([worker], [], 0)).toEqual({ ...nothing, done: ['g-0'] });
  });

  test('that is there is looked after, done or not', () => {
    expect(decide([worker], [job])).toEqual({ ...nothing, apply: ['g-0'] });
    const done = { ...nothing, apply: ['g-0'], done: ['g-0'] };
    expect(decide([worker], [complete(job)])).toEqual(done);
  });

  test('that is there and not done counts for more than a record that says it is', () => {
    expect(decide([worker], [job], 0)).toEqual({ ...nothing, apply: ['g-0'] });
  });

  test('that is on its way out is waited for, unless it was done', () => {
    expect(decide([worker], [leaving(job)])).toEqual({ ...nothing, wait: ['g-0'] });
    expect(decide([worker], [leaving(job)], 0)).toEqual({ ...nothing, done: ['g-0'] });
  });

  test('that was made for another foo is replaced, even if it is done', () => {
    const [other] = workersOf('b', 1) as [WorkerJob];
    const replaced = { ...nothing, remove: ['g-0'], wait: ['g-0'] };
    expect(decide([worker], [complete(jobOf(other))])).toEqual(replaced);
  });

  test('whose annotation was edited is put right, not replaced', () => {
    const edited = { ...job, metadata: { ...job.metadata, annotations: {} } };
    expect(decide([worker], [edited])).toEqual({ ...nothing, apply: ['g-0'] });
  });

  test('that an older version of us made is left as it is', () => {
    const older = { ...job, spec: { template: { spec: { containers: [] } } } };
    expect(decide([worker], [older])).toEqual({ ...nothing, keep: ['g-0'] });
    const done = { ...nothing, keep: ['g-0'], done: ['g-0'] };
    expect(decide([worker], [complete(older)])).toEqual(done);
  });
});

test('fewer workers remove those with the highest numbers, and no other', () => {
  const jobs = workersOf('a', 12).map(jobOf);
  const { remove } = decide(workersOf('a', 3), jobs);
  expect(remove).toEqual(['g-3', 'g-4', 'g-5', 'g-6', 'g-7', 'g-8', 'g-9', 'g-10', 'g-11']);
});

/** What can happen to a Goop between two looks at it. */
type Happening =
  | { readonly type: 'finish' | 'delete' | 'gone'; readonly index: number }
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'foo'; readonly foo: string };

const index = fc.nat(6);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ type: fc.constantFrom('finish', 'delete', 'gone'), index }),
  fc.record({ type: fc.constant('count' as const), count: fc.nat(7) }),
  fc.record({ type: fc.constant('foo' as const), foo: fc.constantFrom('a', 'b') }),
);

describe('whatever happens, in the end', () => {
  test('there are the workers that are wanted, each did the work, and none that was seen done ran again', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
        const world = createWorld();
        for (const one of happenings) {
          world.happen(one);
          world.look();
        }
        for (let turn = 0; turn < 4; turn += 1) {
          world.finishAll();
          world.look();
        }
        expect(world.done()).toEqual(Array.from({ length: world.wanted() }, (_, i) => i));
        for (const name of world.jobs.keys())
          expect(Number(name.slice(2))).toBeLessThan(world.wanted());
      }),
    );
  });
});

/** Jobs in memory, and a status that remembers which work was done. */
function createWorld() {
  const jobs = new Map<string, KubeObject>();
  let [foo, count] = ['a', 3];
  let record = { foo, done: [] as readonly number[] };
  const set = (name: string, change: (job: KubeObject) => KubeObject | undefined) => {
    const job = jobs.get(name);
    const next = job && change(job);
    if (next) jobs.set(name, next);
    else jobs.delete(name);
  };
  return {
    jobs,
    wanted: () => count,
    done: () => record.done,
    happen: (one: Happening) => {
      if (one.type === 'count') count = one.count;
      else if (one.type === 'foo') foo = one.foo;
      else {
        const change = { finish: complete, delete: leaving, gone: () => undefined }[one.type];
        set(`g-${one.index}`, change);
      }
    },
    finishAll: () => {
      for (const [name, job] of jobs)
        set(name, job.metadata.deletionTimestamp === undefined ? complete : () => undefined);
    },
    look: () => {
      const wanted = workersOf(foo, count);
      const recorded = new Set(record.foo === foo ? record.done : []);
      const { apply, remove, wait, done } = decideWorkers(wanted, [...jobs.values()], recorded);
      for (const worker of apply) {
        // What was seen done and is gone must stay gone.
        if (!jobs.has(worker.name)) expect(recorded.has(worker.index)).toBe(false);
        jobs.set(worker.name, jobs.get(worker.name) ?? jobOf(worker));
      }
      for (const { metadata } of remove) jobs.delete(metadata.name);
      expect(wait.filter((worker) => done.includes(worker))).toEqual([]);
      const present = [...jobs.values()].filter(isDone).length;
      expect(done.length).toBeLessThanOrEqual(present + recorded.size);
      record = { foo, done: done.map((worker) => worker.index) };
    },
  };
}
