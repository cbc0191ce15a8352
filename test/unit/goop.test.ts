import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { troubleOf } from '../../functions/goop/failed-nodes.ts';
import { formatIndexes, parseIndexes } from '../../functions/goop/index-set.ts';
import { nodeWorkersName, workerName } from '../../functions/goop/names.ts';
import type { Progress } from '../../functions/goop/progress.ts';
import { type GoopSpec, parseSpec } from '../../functions/goop/spec.ts';
import { describeFailure, report } from '../../functions/goop/status.ts';
import { ConflictError } from '../../runtime/children/conflict.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';

const specOf = (spec: unknown): GoopSpec => {
  const parsed = parseSpec(spec);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
};

describe('the spec', () => {
  test('has a default for everything', () => {
    for (const spec of [undefined, {}])
      expect(specOf(spec)).toMatchObject({ mode: 'Jobs', foo: '', jobCount: 1 });
  });

  test.each([
    [{ job_count: -1 }, 'spec.job_count must be a whole number from 0 to 1000, got -1'],
    [{ job_count: 1_001 }, 'spec.job_count must be a whole number from 0 to 1000, got 1001'],
    [{ job_count: 0.5 }, 'spec.job_count must be a whole number from 0 to 1000, got 0.5'],
    [{ mode: 'Pods' }, 'spec.mode must be one of Jobs, DaemonSet, got "Pods"'],
    [{ mode: 'constructor' }, 'spec.mode must be one of Jobs, DaemonSet, got "constructor"'],
    [{ foo: 7 }, 'spec.foo must be a text of at most 4096 characters without NUL, got 7'],
    [[], 'spec must be an object, got []'],
    [null, 'spec must be an object, got null'],
  ])('%j is refused by field and value', (spec, problem) => {
    expect(parseSpec(spec)).toEqual({ ok: false, problem });
  });

  test('is other work with another foo or mode, and the same with another count', () => {
    const { workDigest } = specOf({ foo: 'a', job_count: 1 });
    expect(specOf({ foo: 'a', job_count: 9 }).workDigest).toBe(workDigest);
    expect(specOf({ foo: 'b' }).workDigest).not.toBe(workDigest);
    expect(specOf({ foo: 'a', mode: 'DaemonSet' }).workDigest).not.toBe(workDigest);
  });
});

const letter = fc.constantFrom('a', 'b', 'c', '0', '1');
const goopName = fc
  .tuple(
    letter,
    fc.string({ unit: fc.constantFrom('a', 'b', '0', '.', '-'), maxLength: 200 }),
    letter,
  )
  .map((parts) => parts.join('').replaceAll(/[.-]{2,}/g, '-'));

describe('names of workers', () => {
  test('are names that Kubernetes takes, and whole where they fit', () => {
    fc.assert(
      fc.property(goopName, fc.nat(999), (name, index) => {
        for (const made of [workerName(name, index), nodeWorkersName(name)]) {
          expect(made.length).toBeLessThanOrEqual(63);
          expect(made).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        }
        if (name.length <= 59) expect(workerName(name, index)).toBe(`${name}-${index}`);
      }),
    );
  });

  test('are never shared by two workers', () => {
    const worker = fc.tuple(goopName, fc.nat(999));
    fc.assert(
      fc.property(worker, worker, ([one, first], [other, second]) => {
        const same = one === other && first === second;
        expect(workerName(one, first) === workerName(other, second)).toBe(same);
      }),
    );
  });
});

describe('numbers of workers', () => {
  test('are written in spans', () => {
    expect(formatIndexes([7, 0, 1, 2, 4])).toBe('0-2,4,7');
    expect(formatIndexes([])).toBe('');
  });

  test('are read as they were written, up to a limit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1_200)), fc.nat(1_200), (indexes, limit) => {
        const read = parseIndexes(formatIndexes(indexes), limit);
        expect(new Set(read)).toEqual(new Set(indexes.filter((index) => index < limit)));
      }),
    );
  });

  test('that make no sense count for nothing, and cost nothing', () => {
    fc.assert(fc.property(fc.string(), (text) => parseIndexes(text, 10).size <= 10));
    expect(parseIndexes('0-999999999,x,-1,3-1,1e3', 3)).toEqual(new Set([0, 1, 2]));
  });
});

const progress = (over: Partial<Progress>): Progress => ({
  workers: 3,
  deployed: 3,
  done: 3,
  failed: [],
  late: [],
  plan: [],
  ...over,
});
const shownOf = (over: Partial<Progress>) =>
  report(specOf({}), progress(over)).conditions.map(
    ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
  );

describe('conditions', () => {
  test('come in the order of the steps, and Ready says what Completed does', () => {
    expect(shownOf({})).toEqual([
      'Ready True WorkersDone: 3 of 3 workers are done',
      'Initialized True SpecAccepted: the spec is valid',
      'Deployed True WorkersDeployed: 3 of 3 workers are deployed',
      'Completed True WorkersDone: 3 of 3 workers are done',
      'Finalized False NotDeleted: the object is not being deleted',
    ]);
  });

  test.each([
    [{ done: 1 }, 'Completed False WorkersRunning: 1 of 3 workers are done'],
    [{ done: 1, deployed: 2 }, 'Completed False Deploying: 2 of 3 workers are deployed'],
    [{ workers: 0, deployed: 0, done: 0 }, 'Completed True WorkersDone: 0 of 0 workers are done'],
    [{ unknown: 'no node' }, 'Completed False Deploying: no node'],
    [
      { done: 2, failed: [{ who: 'g-1', why: 'it broke' }] },
      'Completed False WorkerFailed: 1 of 3 workers failed: g-1 (it broke)',
    ],
    [
      { done: 2, late: [{ who: 'g-1', why: 'suspended' }] },
      'Completed False WorkersRunning: 2 of 3 workers are done; g-1 (suspended)',
    ],
  ])('of %j tell the truth', (over, expected) => {
    expect(shownOf(over)).toContain(expected);
  });

  test('name some of many failed workers, and say how many more there are', () => {
    const failed = Array.from({ length: 200 }, (_, index) => ({ who: `g-${index}`, why: 'x' }));
    const [ready] = shownOf({ workers: 200, done: 0, failed });
    expect(ready).toContain('g-4 (x), and 195 more');
    expect(ready?.length).toBeLessThan(200);
  });
});

describe('a failure', () => {
  const object: KubeObject = {
    apiVersion: 'goop.example.com/v1alpha1',
    kind: 'Goop',
    metadata: { name: 'g', namespace: 'default', uid: '1', resourceVersion: '1' },
    status: { completedIndexes: '0-4', workDigest: 'd' } as object,
  };
  const kind = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' };
  const conflict = new ConflictError({ kind, namespace: 'default', name: 'g-0' }, 'CronJob c');

  test.each([
    [new TerminalError('InvalidSpec', 'x'), ['False', 'False', 'False', 'False']],
    [conflict, ['True', 'False', 'False', 'False', 'True']],
    [new TransientError('DeadlineExceeded', 'x'), ['True', 'Unknown', 'Unknown', 'False']],
  ])('%s is told in each step, and forgets no worker that is done', (error, states) => {
    const { status, conditions = [] } = describeFailure({ object, error, now: 0 });
    expect(conditions.map((one) => one.status)).toEqual(states);
    expect(status).toEqual({ completedIndexes: '0-4', workDigest: 'd' });
  });
});

describe('the trouble of a pod', () => {
  const pod = (status: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', uid: '1', resourceVersion: '1' },
    spec: { nodeName: 'n1' },
    status,
  });
  const init = (...statuses: readonly object[]) => pod({ initContainerStatuses: statuses });

  test.each([
    [pod({}), undefined],
    [init({ name: 'worker', state: { waiting: { reason: 'PodInitializing' } } }), undefined],
    [init({ name: 'worker', state: { terminated: { exitCode: 0 } } }), undefined],
    [
      init({ name: 'worker', state: { terminated: { exitCode: 3 } } }),
      'container worker ended with exit code 3',
    ],
    [
      init({ name: 'worker', state: { waiting: { reason: 'ImagePullBackOff' } } }),
      'container worker does not start (ImagePullBackOff)',
    ],
    [
      pod({
        containerStatuses: [{ name: 'pause', state: { waiting: { reason: 'ErrImagePull' } } }],
      }),
      'container pause does not start (ErrImagePull)',
    ],
    [pod({ phase: 'Failed', message: 'The node was low on memory' }), 'The node was low on memory'],
    [init('nonsense' as unknown as object), undefined],
  ])('is found in its status, if there is any (%#)', (object, why) => {
    expect(troubleOf(object)).toEqual(why === undefined ? undefined : { who: 'node n1', why });
  });
});
