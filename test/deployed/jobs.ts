import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import type { JobStatus } from '../../functions/ddbctldpjob/spec.ts';
import type { CommonStatus } from '../../runtime/kube/objects.ts';
import type { Item, TestTables } from '../helpers/dynamodb-tables.ts';
import type { DeployedSystem } from './deployed-system.ts';

export type JobState = JobStatus & CommonStatus;

const refOf = (name: string) => ({ kind: ddbctldpjob.kind, namespace: 'default', name });

/** DdbctlDpJobs in the namespace default of one cluster. */
export interface Jobs {
  create(name: string, spec: object): Promise<unknown>;
  /** Merge patch. */
  patch(name: string, patch: object): Promise<unknown>;
  status(name: string): Promise<JobState>;
  /** Waits for a status. */
  reaches(
    name: string,
    is: (status: JobState) => boolean,
    options?: { readonly seconds?: number },
  ): Promise<JobState>;
}

/** @param cluster default: the one of the test with one cluster */
export function jobsOf(system: DeployedSystem, cluster = 'prod'): Jobs {
  const { admin } = system.cluster(cluster);
  const status = async (name: string): Promise<JobState> =>
    (await admin.get(refOf(name)))?.status ?? {};
  return {
    create: (name, spec) => admin.create(ddbctldpjob.kind, 'default', { metadata: { name }, spec }),
    patch: (name, patch) => admin.mergePatch(refOf(name), patch),
    status,
    reaches: (name, is, options) =>
      system.eventually(
        async () => {
          const seen = await status(name);
          return is(seen) ? seen : undefined;
        },
        { what: async () => `job ${name}: ${JSON.stringify(await status(name))}`, ...options },
      ),
  };
}

/** A table with `count` items in partition "mine" and ten in a neighbour. */
export async function fillTable(tables: TestTables, name: string, count: number): Promise<void> {
  const partitionKey = { name: 'id', type: 'S' as const };
  await tables.create(name, { partitionKey, sortKey: { name: 'at', type: 'N' } });
  const items = (id: string, number: number): Item[] =>
    Array.from({ length: number }, (_, at) => ({ id: { S: id }, at: { N: String(at) } }));
  await tables.put(name, [...items('mine', count), ...items('other', 10)]);
}

export const isCompleted = ({ phase }: JobState): boolean => phase === 'Completed';

export const readyOf = ({ conditions }: JobState) =>
  conditions?.find(({ type }) => type === 'Ready');
