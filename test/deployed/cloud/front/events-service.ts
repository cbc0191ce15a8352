import { HarnessGap } from '../iam/gap.ts';
import { asText, isList, isObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Moto } from './moto.ts';
import type { NeededAccess, Service } from './service.ts';

export interface EventsOptions {
  readonly moto: Moto;
  readonly account: string;
  /** Called when rules may have something to deliver. */
  readonly onEvents: () => void;
}

/** EventBridge: moto takes events and finds the rules that match. */
export function createEventsService({ moto, account, onEvents }: EventsOptions): Service {
  return {
    async accesses(call) {
      if (call.operation !== 'PutEvents') {
        throw new HarnessGap(`the harness does not know events:${call.operation}`);
      }
      return busesOf(call).map((bus) => accessOf(call, bus, account));
    },
    async answer(call) {
      const reply = await moto.pass(call);
      onEvents();
      return reply;
    },
  };
}

const entriesOf = ({ input }: AwsCall) => {
  const entries = input['Entries'];
  return isList(entries) ? entries.filter(isObject) : [];
};

const busOf = (name: unknown): string =>
  typeof name === 'string' ? name.replace(/^arn:.*:event-bus\//, '') : 'default';

const busesOf = (call: AwsCall): readonly string[] => [
  ...new Set(entriesOf(call).map(({ EventBusName }) => busOf(EventBusName))),
];

function accessOf(call: AwsCall, bus: string, account: string): NeededAccess {
  const entries = entriesOf(call).filter(({ EventBusName }) => busOf(EventBusName) === bus);
  const distinct = (key: string) => [...new Set(entries.map((entry) => asText(entry[key])))];
  return {
    action: `events:${call.operation}`,
    resource: `arn:aws:events:${call.region}:${account}:event-bus/${bus}`,
    context: new Map([
      ['events:source', distinct('Source')],
      ['events:detail-type', distinct('DetailType')],
    ]),
  };
}
