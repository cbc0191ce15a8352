import '../helpers/dynamodb-credentials.ts';
import { randomUUID } from 'node:crypto';
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { afterAll, beforeAll, describe } from 'vitest';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import { createEventBus } from '../../runtime/aws/event-bridge.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type AwsQueues, createAwsQueues } from '../helpers/aws-queues.ts';
import { describeEventBusContract } from '../helpers/cloud-event-bus-contract.ts';
import { type Moto, motoMissing, motoName, startMoto } from '../helpers/moto.ts';

describe.skipIf(motoMissing)(motoName, () => {
  let moto: Moto;
  let queues: AwsQueues;
  let client: EventBridgeClient;
  beforeAll(async () => {
    moto = await startMoto();
    queues = createAwsQueues(moto.url);
    client = new EventBridgeClient(clientOptions({ region: 'us-east-1', endpoint: moto.url }));
  });
  afterAll(() => moto?.stop());

  describeEventBusContract('EventBridge through our port', async (patterns) => {
    const name = randomUUID();
    const urls = new Map<string, string>();
    await client.send(new CreateEventBusCommand({ Name: name }));
    for (const [rule, pattern] of Object.entries(patterns)) {
      const { url, arn } = await queues.create();
      urls.set(rule, url);
      const EventPattern = JSON.stringify(pattern);
      await client.send(new PutRuleCommand({ Name: rule, EventBusName: name, EventPattern }));
      await client.send(
        new PutTargetsCommand({
          Rule: rule,
          EventBusName: name,
          // The same as the stack's InputPath $.detail, which moto does not know.
          Targets: [
            {
              Id: 'inbox',
              Arn: arn,
              InputTransformer: {
                InputPathsMap: { detail: '$.detail' },
                InputTemplate: '<detail>',
              },
            },
          ],
        }),
      );
    }
    return {
      bus: createEventBus({ name, client, clock: systemClock }),
      queue: (rule) => queues.standard(urls.get(rule) ?? ''),
    };
  });
});
