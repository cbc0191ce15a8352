import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import type { SystemOptions } from '../../local/system.ts';
import type { Kind } from '../../runtime/operator.ts';
import { createJobPartitions } from './job-partitions.ts';
import { startTestSystem } from './system.ts';
import { until } from './until.ts';

const eventKind: Kind = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' };

export interface JobEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly eventTime: string;
  readonly regarding: { readonly name: string };
}

export interface PrintedTable {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** Podless with tables beside it, and the words that the tests of DdbctlDpJob share. */
export async function startJobSystem(options: SystemOptions = {}) {
  const system = await startTestSystem(options);
  const partitions = createJobPartitions(system.dynamodb);

  /** The outcome lines that the log has of one job. */
  const reconcilesOf = (name: string) =>
    system.lines.filter(
      ({ message, object }) =>
        message === 'reconcile finished' && (object as { name?: string }).name === name,
    );

  /** Kubernetes Events about a job, oldest first. */
  const eventsOf = async (name: string): Promise<readonly JobEvent[]> => {
    const { items } = await system.admin.list(eventKind, { limit: 5_000 });
    return (items as JobEvent[])
      .filter(({ regarding }) => regarding.name === name)
      .toSorted((one, other) => one.eventTime.localeCompare(other.eventTime));
  };

  return {
    ...system,
    partitions,
    reconcilesOf,
    reconcileByHand: (name: string, more: object = {}) =>
      system.invoke('podless-ddbctldpjob', { namespace: 'default', name, ...more }),
    /** Has every job looked at again; resolves when this one has been. */
    resync: async (name: string) => {
      const before = resyncsOf(name);
      await system.invoke('podless-resync', { spreadSeconds: 0 });
      await until(async () => (resyncsOf(name) > before ? true : undefined), {
        seconds: 60,
        what: async () => `a resync of ${name}`,
      });
    },
    /** Fails if the job is written to, or the partition changes, in these seconds. */
    staysAsItIs: async (name: string, seconds: number) => {
      const before = await system.getJob(name);
      await delay(seconds * 1000);
      const after = await system.getJob(name);
      if (JSON.stringify(after) !== JSON.stringify(before))
        throw new Error(
          `job ${name} must not change, was ${JSON.stringify(before)}, is ${JSON.stringify(after)}`,
        );
    },
    /** As `kubectl get` asks for it. */
    tableOf: async (name: string): Promise<PrintedTable> => {
      const { server, ca, token } = system.cluster.admin;
      const { group, version, plural } = ddbctldpjob.kind;
      const path = `/apis/${group}/${version}/namespaces/default/${plural}/${name}`;
      const headers = {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        authorization: `Bearer ${await token?.()}`,
      };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        get(`${server}${path}`, { ca, headers }, resolve).once('error', reject);
      });
      return (await json(answer)) as PrintedTable;
    },
    eventsOf,
    /** An Event follows the status that it tells of. */
    eventsReach: (name: string, count: number) =>
      until(
        async () => {
          const events = await eventsOf(name);
          return events.length >= count ? events : undefined;
        },
        {
          seconds: 15,
          what: async () =>
            `${count} Events on ${name}, got ${JSON.stringify(await eventsOf(name))}`,
        },
      ),
  };

  function resyncsOf(name: string): number {
    return reconcilesOf(name).filter(({ trigger }) => trigger === 'Resync').length;
  }
}

export type JobSystem = Awaited<ReturnType<typeof startJobSystem>>;

/** Names that no other test of the file uses. */
export function createNames(prefix: string): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `${prefix}-${last}`;
  };
}
