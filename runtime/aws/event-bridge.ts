import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import type { EventBus } from '../cloud.ts';
import { HINT_SOURCE, type Hint } from '../hint.ts';
import type { Patience } from './attempts.ts';
import { type BatchService, deliverAll } from './batch-delivery.ts';
import { called, faultOfCode } from './call-error.ts';
import { clientOptions } from './client-options.ts';

export interface EventBusOptions extends Pick<Patience, 'clock' | 'random'> {
  readonly name: string;
  readonly client: EventBridgeClient;
}

export interface EventBusSite extends Omit<EventBusOptions, 'client'> {
  readonly region: string;
}

/** The watcher gives a call of the port 75 seconds and has a patience of its own: this one must end well before. */
const PATIENCE = { attempts: 8, milliseconds: 30_000 } as const;

/** The bus of a region. */
export const openEventBus = ({ region, ...options }: EventBusSite): EventBus =>
  createEventBus({ ...options, client: new EventBridgeClient(clientOptions({ region })) });

export function createEventBus({ name, client, ...time }: EventBusOptions): EventBus {
  const service = putEventsTo(name, client);
  return {
    put: (hints, signal) =>
      deliverAll(
        hints.map((hint) => toEntry(hint, name)),
        service,
        { ...PATIENCE, ...time },
        signal,
      ),
  };
}

const toEntry = (hint: Hint, EventBusName: string): PutEventsRequestEntry => ({
  EventBusName,
  Source: HINT_SOURCE,
  DetailType: hint.kind,
  Detail: JSON.stringify(hint),
});

function putEventsTo(name: string, client: EventBridgeClient): BatchService<PutEventsRequestEntry> {
  const what = `PutEvents on bus "${name}"`;
  return {
    what,
    sizeOf: ({ Source, DetailType, Detail }) =>
      Buffer.byteLength(`${Source}${DetailType}${Detail}`),
    send: async (batch, signal) => {
      const command = new PutEventsCommand({ Entries: [...batch] });
      const options = signal && { abortSignal: signal };
      const { Entries = [] } = await called(what, () => client.send(command, options), signal);
      // A 200 says nothing of the single entries: only those with an id were taken.
      return batch.flatMap((entry, index) => {
        const {
          EventId,
          ErrorCode: code = 'NoAnswer',
          ErrorMessage: message,
        } = Entries[index] ?? {};
        if (EventId) return [];
        return [{ entry, code, message, fault: faultOfCode(code) ?? 'refused' }];
      });
    },
  };
}
