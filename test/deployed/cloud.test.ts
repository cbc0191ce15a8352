import { PutEventsCommand, type PutEventsCommandOutput } from '@aws-sdk/client-eventbridge';
import { describe, expect, test } from 'vitest';
import { HINT_SOURCE, type Hint } from '../../runtime/hint.ts';
import { motoMissing, motoName } from '../helpers/moto.ts';
import { eventsAs } from './cloud/clients.ts';
import { recordsOf } from './cloud/scripted-functions.ts';
import type { Json, JsonObject } from './cloud/template/json.ts';
import { hintOf, names, type TestCloud, useTestCloud } from './cloud/test-cloud.ts';

/** As the watcher does it. */
function putEvents(
  { cloud, functionOf }: TestCloud,
  ...hints: readonly Hint[]
): Promise<PutEventsCommandOutput> {
  const Entries = hints.map((hint) => ({
    EventBusName: names.bus,
    Source: HINT_SOURCE,
    DetailType: hint.kind,
    Detail: JSON.stringify(hint),
  }));
  const client = eventsAs(cloud, functionOf(names.watcher).identity);
  return client.send(new PutEventsCommand({ Entries }));
}

const workOf = ({ functions }: TestCloud) => recordsOf(functions.runsOf(names.reconciler));

/** All messages of a queue have been dealt with. */
const isEmpty =
  ({ cloud }: TestCloud, queue: string) =>
  async (): Promise<true | undefined> => {
    const { visible, inFlight, delayed } = await cloud.queue(queue).depth();
    return visible + inFlight + delayed === 0 ? true : undefined;
  };

describe.skipIf(motoMissing)(`The synthesized template on ${motoName}`, () => {
  const { deploy, run } = useTestCloud();

  test('carries a hint from the bus to the reconciler, as one object a group', async () => {
    const system = await run();
    const hint = hintOf('a');
    await putEvents(system, hint);
    const [record] = await system.eventually(async () => {
      const records = workOf(system);
      return records.length > 0 ? records : undefined;
    });
    expect(JSON.parse(record?.body ?? '')).toEqual(hint);
    expect(record).toMatchObject({
      attributes: {
        MessageGroupId: hint.group,
        MessageDeduplicationId: hint.dedupId,
        ApproximateReceiveCount: '1',
      },
      eventSource: 'aws:sqs',
      eventSourceARN: `arn:aws:sqs:us-east-1:123456789012:${names.work}`,
    });
    await system.eventually(isEmpty(system, names.inbox));
    await system.eventually(isEmpty(system, names.work));
    expect(system.cloud).toMatchObject({ gaps: [], reports: [] });
  });

  test('makes one message of a change that was seen twice, even if the first is done', async () => {
    const system = await run();
    await putEvents(system, hintOf('a'));
    await system.eventually(async () => workOf(system)[0]);
    await system.eventually(isEmpty(system, names.work));
    await putEvents(system, hintOf('a'), hintOf('b'));
    await system.eventually(async () => workOf(system)[1]);
    await system.eventually(isEmpty(system, names.inbox));
    const bodies = workOf(system).map(({ body }) => (JSON.parse(body) as Hint).name);
    expect(bodies).toEqual(['a', 'b']);
  });

  test('leaves an event of another source or kind where it is', async () => {
    const system = await run();
    const foreign = { ...hintOf('a'), apiVersion: 'example.com/v1' };
    const other = { ...hintOf('b'), kind: 'Other' };
    await putEvents(system, foreign, other, hintOf('c'));
    await system.eventually(async () => workOf(system)[0]);
    await system.eventually(isEmpty(system, names.inbox));
    expect(workOf(system).map(({ body }) => (JSON.parse(body) as Hint).name)).toEqual(['c']);
  });

  test('never works on one object twice at once, on others side by side', async () => {
    const system = await run();
    const running: string[] = [];
    const seen: (readonly string[])[] = [];
    const gate = Promise.withResolvers<void>();
    system.functions.script(async ({ payload }) => {
      const [record] = recordsOf([payload]);
      if (!record) return null;
      const { name } = JSON.parse(record.body) as Hint;
      running.push(name);
      seen.push([...running]);
      await gate.promise;
      running.splice(running.indexOf(name), 1);
      return null;
    });
    await putEvents(system, hintOf('a', '1'), hintOf('a', '2'), hintOf('b', '1'), hintOf('b', '2'));
    await system.eventually(async () => (running.length === 2 ? true : undefined));
    await system.eventually(isEmpty(system, names.inbox));
    gate.resolve();
    await system.eventually(isEmpty(system, names.work));
    expect(seen).toHaveLength(4);
    for (const names of seen) expect(new Set(names).size).toBe(names.length);
  });

  test('brings back what a function did not finish, and puts it aside after five tries', async () => {
    const system = await run();
    system.functions.script(async () => {
      throw new Error('killed');
    });
    await putEvents(system, hintOf('a'));
    for (const receives of [1, 2, 3, 4, 5]) {
      await system.eventually(async () => workOf(system)[receives - 1]);
      await system.eventually(async () => {
        const { inFlight } = await system.cloud.queue(names.work).depth();
        return inFlight === 1 ? true : undefined;
      });
      expect(await system.cloud.queue(names.work).expireVisibility()).toBe(1);
    }
    await system.eventually(isEmpty(system, names.work));
    expect(workOf(system).map(({ attributes }) => attributes['ApproximateReceiveCount'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    const [dead] = await system.cloud.queue(names.workDeadLetters).peek();
    expect(JSON.parse(dead?.Body ?? '')).toEqual(hintOf('a'));
  });

  test('keeps a message that the function reports as failed', async () => {
    const system = await run();
    system.functions.script(async ({ payload }) => {
      const batchItemFailures = recordsOf([payload])
        .filter(({ attributes }) => attributes['ApproximateReceiveCount'] === '1')
        .map(({ messageId }) => ({ itemIdentifier: messageId }));
      return { batchItemFailures };
    });
    await putEvents(system, hintOf('a'));
    await system.eventually(async () => workOf(system)[0]);
    await system.eventually(async () =>
      (await system.cloud.queue(names.work).expireVisibility()) === 1 ? true : undefined,
    );
    await system.eventually(async () => workOf(system)[1]);
    await system.eventually(isEmpty(system, names.work));
  });

  test('a message without a group costs only itself', async () => {
    const system = await run();
    const inbox = system.cloud.queue(names.inbox);
    await inbox.send('{"name":"nobody"}');
    await inbox.send('not JSON');
    await inbox.send(JSON.stringify(hintOf('a')));
    await system.eventually(async () => workOf(system)[0]);
    await system.eventually(async () => {
      await inbox.expireVisibility();
      const { visible } = await system.cloud.queue(names.inboxDeadLetters).depth();
      return visible === 2 ? true : undefined;
    });
    expect(workOf(system)).toHaveLength(1);
    expect(system.cloud.gaps).toEqual([]);
  });

  test('takes no receipt of a message that was given out again: it is for the later run to end it', async () => {
    const system = await run();
    const runs = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    system.functions.script(async ({ payload }) => {
      const [record] = recordsOf([payload]);
      const receives = Number(record?.attributes['ApproximateReceiveCount']);
      return runs[receives - 1]?.promise ?? null;
    });
    await putEvents(system, hintOf('a'));
    await system.eventually(async () => workOf(system)[0]);
    const work = system.cloud.queue(names.work);
    expect(await work.expireVisibility()).toBe(1);
    await system.eventually(async () => workOf(system)[1]);
    runs[0]?.resolve(null);
    const refused = await system.eventually(async () => system.cloud.reports[0]);
    expect(refused['error']).toMatch(/receipt handle has expired/);
    expect(await work.depth()).toMatchObject({ inFlight: 1 });
    runs[1]?.resolve(null);
    await system.eventually(isEmpty(system, names.work));
  });

  test('refuses some events of a call if told so, and delivers the others', async () => {
    const system = await run();
    system.cloud.fault({ service: 'events', action: 'PutEvents', failEntries: 0.5 });
    const hints = Array.from({ length: 10 }, (_, index) => hintOf(`job-${index}`));
    const { Entries = [], FailedEntryCount } = await putEvents(system, ...hints);
    const accepted = hints.filter((_, index) => Entries[index]?.EventId !== undefined);
    expect(FailedEntryCount).toBe(10 - accepted.length);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.length).toBeLessThan(10);
    await system.eventually(async () => workOf(system)[accepted.length - 1]);
    await system.eventually(isEmpty(system, names.inbox));
    const arrived = workOf(system).map(({ body }) => (JSON.parse(body) as Hint).name);
    expect(arrived.toSorted()).toEqual(accepted.map(({ name }) => name).toSorted());
  });

  test('starts functions by schedule, and keeps what fails three times', async () => {
    const system = await deploy();
    system.functions.script(async ({ functionName }) => {
      if (functionName === names.resync) throw new Error('no cluster');
      return null;
    });
    await system.cloud.carry();
    const deadLetters = system.cloud.queue(names.failedInvocations);
    await system.eventually(async () =>
      (await deadLetters.depth()).visible === 1 ? true : undefined,
    );
    const input = { cluster: 'prod', operator: 'ddbctldpjob', spreadSeconds: 300 };
    expect(system.functions.runsOf(names.resync)).toEqual([input, input, input]);
    expect(system.functions.runsOf(names.watcher)).toEqual([
      { cluster: 'prod', shiftSeconds: 620 },
    ]);
    const [failure] = await deadLetters.peek();
    expect(JSON.parse(failure?.Body ?? '')).toMatchObject({
      requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
      requestPayload: input,
      responsePayload: { errorMessage: 'no cluster' },
    });
  });

  test('keeps what a schedule could not start', async () => {
    const system = await deploy();
    system.cloud.fault({ service: 'lambda', action: 'Invoke', status: 500, times: 11 });
    const schedule = system.cloud.schedules.find(
      ({ functionName }) => functionName === names.watcher,
    );
    expect(await schedule?.fire()).toBeUndefined();
    expect(system.functions.runsOf(names.watcher)).toEqual([]);
    const [kept] = await system.cloud.queue(names.failedInvocations).peek();
    expect(kept?.Body).toBe(schedule?.input);
  });

  describe('with a mistake in it', () => {
    /** The template with one thing changed in every resource of a type. */
    const altered =
      (type: string, change: (properties: JsonObject) => JsonObject) =>
      (template: JsonObject): JsonObject => ({
        ...template,
        Resources: Object.fromEntries(
          Object.entries(template['Resources'] as Record<string, JsonObject>).map(
            ([id, resource]) => [
              id,
              resource['Type'] === type
                ? { ...resource, Properties: change(resource['Properties'] as JsonObject) }
                : resource,
            ],
          ),
        ),
      });
    const replaced = (json: Json, from: string, to: string): JsonObject =>
      JSON.parse(JSON.stringify(json).replaceAll(from, to)) as JsonObject;

    test('delivers nothing if the Pipe looks for the group in the wrong place', async () => {
      const alter = altered('AWS::Pipes::Pipe', (pipe) =>
        replaced(pipe, '$.body.group', '$.group'),
      );
      const system = await run({ alter });
      await putEvents(system, hintOf('a'));
      await system.eventually(async () => system.cloud.reports[0]);
      expect(system.cloud.reports[0]).toMatchObject({ message: 'pipe could not move messages' });
      expect(workOf(system)).toEqual([]);
    });

    test('delivers nothing if the queue does not let the rule in', async () => {
      const alter = altered('AWS::SQS::QueuePolicy', (policy) =>
        replaced(policy, 'events.amazonaws.com', 'sns.amazonaws.com'),
      );
      const system = await run({ alter });
      await putEvents(system, hintOf('a'));
      await system.eventually(async () => system.cloud.reports[1]);
      expect(system.cloud.reports.map(({ message }) => message)).toEqual([
        'event not delivered',
        'event dropped',
      ]);
    });

    test('delivers the whole event, which no Pipe can read, if the rule has no InputPath', async () => {
      const alter = altered('AWS::Events::Rule', (rule) =>
        replaced(rule, '"InputPath":"$.detail",', ''),
      );
      const system = await run({ alter });
      await putEvents(system, hintOf('a'));
      await system.eventually(async () => system.cloud.reports[0]);
      expect(workOf(system)).toEqual([]);
    });

    test('does not start if the function may not read its queue', async () => {
      const alter = altered('AWS::IAM::Policy', (policy) =>
        replaced(policy, 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'),
      );
      await expect(run({ alter })).rejects.toThrow(/sqs:GetQueueAttributes/);
    });

    test('does not start if a role does not trust the Pipe', async () => {
      const alter = altered('AWS::IAM::Role', (role) =>
        replaced(role, 'pipes.amazonaws.com', 'states.amazonaws.com'),
      );
      await expect(run({ alter })).rejects.toThrow(/does not trust pipes.amazonaws.com/);
    });

    test('is refused if the queue would give a message out while a function works on it', async () => {
      const alter = altered('AWS::SQS::Queue', (queue) => ({ ...queue, VisibilityTimeout: 30 }));
      await expect(run({ alter })).rejects.toThrow(/visibility timeout of 30 s, less than/);
    });
  });
});
