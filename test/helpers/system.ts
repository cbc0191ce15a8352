import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import type { JobStatus } from '../../functions/ddbctldpjob/spec.ts';
import { type SystemOptions, startSystem } from '../../local/system.ts';
import type { CommonStatus, Condition, KubeObject } from '../../runtime/kube/objects.ts';
import type { LogLine } from '../../runtime/log.ts';
import { until } from './until.ts';

export type Job = KubeObject<unknown, JobStatus>;
export type JobState = JobStatus & CommonStatus;

/** Podless on this machine, and short words for what scenario tests do with it: as admin, through the API server only. */
export async function startTestSystem(options: SystemOptions = {}) {
  const lines: LogLine[] = [];
  const system = await startSystem({ ...options, onLog: (_source, line) => lines.push(line) });
  const { admin } = system;
  const ref = (name: string) => ({ kind: ddbctldpjob.kind, namespace: 'default', name });

  const getJob = async (name: string) => (await admin.get(ref(name))) satisfies Job | undefined;
  const jobStatus = async (name: string): Promise<JobState> => (await getJob(name))?.status ?? {};

  return {
    ...system,
    /** Every log line of the functions so far. */
    lines,
    ref,
    getJob,
    jobStatus,
    createJob: (name: string, spec: object, metadata: object = {}) =>
      admin.create(ddbctldpjob.kind, 'default', {
        metadata: { name, ...metadata },
        spec,
      }) as Promise<Job>,
    /** Merge patch. */
    patchJob: (name: string, patch: object) => admin.mergePatch(ref(name), patch) as Promise<Job>,
    deleteJob: (name: string) => admin.delete(ref(name), {}),
    /** Resolves with the status as soon as it is so. */
    jobReaches: (name: string, is: (status: JobState) => boolean, seconds = 60) =>
      until(
        async () => {
          const status = await jobStatus(name);
          return is(status) ? status : undefined;
        },
        {
          seconds,
          what: async () =>
            `job ${name} to get there; it is at ${JSON.stringify(await jobStatus(name))}`,
        },
      ),
    jobIsGone: (name: string, seconds = 30) =>
      until(async () => ((await getJob(name)) === undefined ? true : undefined), {
        seconds,
        what: async () => `job ${name} to go`,
      }),
    /** As `aws lambda invoke` does. Answers the payload, and whether the function failed. */
    invoke: async (functionName: string, payload: unknown) => {
      const response = await fetch(
        `${system.lambda}/2015-03-31/functions/${functionName}/invocations`,
        {
          method: 'POST',
          body: JSON.stringify(payload),
        },
      );
      return {
        failed: response.headers.has('x-amz-function-error') || !response.ok,
        payload: (await response.json()) as Record<string, unknown>,
      };
    },
  };
}

export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

export const readyOf = (status: CommonStatus): Condition | undefined =>
  status.conditions?.find(({ type }) => type === 'Ready');
