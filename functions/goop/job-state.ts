import type { KubeObject } from '../../runtime/kube/objects.ts';
import { fieldOf } from '../../runtime/untrusted.ts';
import type { Trouble } from './progress.ts';

export const isDone = (job: KubeObject): boolean => conditionOf(job, 'Complete') !== undefined;

/** Why a Job will not be done any more. */
export function failureOf(job: KubeObject): Trouble | undefined {
  const failed = conditionOf(job, 'Failed');
  return failed && { who: job.metadata.name, why: failed.message || failed.reason };
}

/** Why a Job that may still be done is late. */
export function delayOf(job: KubeObject): Trouble | undefined {
  if (isDone(job) || failureOf(job)) return undefined;
  const who = job.metadata.name;
  if (fieldOf(job.spec, 'suspend') === true) return { who, why: 'suspended' };
  const failures = Number(fieldOf(job.status, 'failed') ?? 0);
  if (failures === 0) return undefined;
  return { who, why: `failed ${failures === 1 ? 'once' : `${failures} times`}, tried again` };
}

const conditionOf = ({ status }: KubeObject, type: string) =>
  status?.conditions?.find((one) => one.type === type && one.status === 'True');
