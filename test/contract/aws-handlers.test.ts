import { execFile } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import { createHint } from '../../runtime/hint.ts';
import { previewOf } from '../../runtime/preview.ts';
import {
  certificateMissing,
  createCertificate,
  described,
  startEksApi,
} from '../helpers/aws-eks-world.ts';
import {
  byOperation,
  refuse,
  reply,
  type ServiceBehaviour,
  type ServiceCall,
  startHostileService,
  storeMessages,
  takeEvents,
  together,
} from '../helpers/aws-hostile-service.ts';
import '../helpers/dynamodb-credentials.ts';
import { answer, type Behaviour } from '../helpers/runtime-hostile-api.ts';
import { sqsRecord } from '../helpers/runtime-world.ts';

const functions = resolve(import.meta.dirname, '../../functions');

type Environment = Readonly<Record<string, string>>;

const shared = { AWS_REGION: 'eu-central-1', PODLESS_CLUSTERS: 'prod' };

/** Without it all operators are meant. */
const deployed = { PODLESS_OPERATORS: 'ddbctldpjob' };

/** As the stack sets it, with all of AWS at one place. */
const environmentsAt = (url: string): Readonly<Record<string, Environment>> => {
  const inbox = { PODLESS_INBOX_DDBCTLDPJOB: `${url}/1/podless-ddbctldpjob-inbox` };
  const work = { PODLESS_WORK_DDBCTLDPJOB: `${url}/1/podless-ddbctldpjob-work.fifo` };
  const bus = { PODLESS_BUS: 'podless', PODLESS_CURSOR_TABLE: 'podless-cursors' };
  return {
    watcher: { ...shared, ...deployed, ...bus },
    resync: { ...shared, ...deployed, ...inbox },
    ddbctldpjob: { ...shared, ...inbox, ...work },
  };
};
const cases = Object.entries(environmentsAt('http://localhost:1'));

/** Runs code next to a handler in a process of its own, with this environment and no other. */
async function run(name: string, code: string, environment: Environment) {
  const script = `const { handler } = await import('./${name}/handler.ts'); ${code}`;
  const options = { cwd: functions, env: { PATH: process.env['PATH'], ...environment } };
  const running = promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    options,
  );
  return running.then(
    ({ stdout }) => ({ code: 0, output: stdout.trim() }),
    (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr }),
  );
}

describe('the handler of', () => {
  const load = (name: string, environment: Environment) =>
    run(name, 'console.log(typeof handler)', environment);

  test.each(cases)('%s loads with what the stack gives it, and calls nobody', async (name, own) => {
    await using service = await startHostileService(reply({}));
    const loaded = await load(name, { ...own, AWS_ENDPOINT_URL: service.url });
    expect(loaded).toEqual({ code: 0, output: 'function' });
    expect(service.mostAtOnce()).toBe(0);
  });

  test.each(
    cases.flatMap(([name, own]) =>
      Object.keys(own)
        .filter((variable) => !Object.hasOwn(deployed, variable))
        .map((variable) => [name, variable, own] as const),
    ),
  )('%s does not load without %s, and says so', async (name, variable, own) => {
    const { [variable]: _, ...rest } = own;
    const { code, output } = await load(name, rest);
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`environment variable ${variable} must be .*, got nothing`));
  });
});

const name = certificateMissing ? `(not tested: ${certificateMissing})` : '';

describe.skipIf(certificateMissing)(`the handler, over the wire, of ${name}`, () => {
  const job = (index: number) => ({
    metadata: {
      name: `j${index}`,
      namespace: 'default',
      uid: `u${index}`,
      resourceVersion: `${index}`,
      generation: 1,
    },
  });
  const list = { metadata: { resourceVersion: '7' }, items: [job(1), job(2), job(3)] };
  const watching = ({ url }: IncomingMessage) => url?.includes('watch=true');
  const cluster: Behaviour = (response, request) => {
    if (!watching(request)) return answer(200, list)(response, request);
    response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: job(9) })}\n`);
  };

  type Services = Readonly<Record<string, ServiceBehaviour>>;

  /** Runs a handler once; what it printed, and what it asked of AWS. */
  async function invoke(
    functionName: string,
    event: object,
    api: Behaviour,
    { clusterName = 'prod', services = (find: Services): Services => find } = {},
  ) {
    const certificate = createCertificate();
    await using server = await startEksApi(clusterName, certificate, api);
    const find = { '/clusters/prod': described(server.server, certificate) };
    await using aws = await startHostileService(
      byOperation({
        ...services(find),
        PutEvents: takeEvents,
        SendMessageBatch: storeMessages,
        ChangeMessageVisibility: reply({}),
        GetItem: reply({}),
        PutItem: reply({}),
      }),
    );
    const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'secret-of-the-test' };
    const end = 'Date.now() + 60_000';
    const context = `{ awsRequestId: 'r', functionName: 'f', getRemainingTimeInMillis: () => ${end} - Date.now() }`;
    const code = `console.log(JSON.stringify(await handler(${JSON.stringify(event)}, ${context}))); process.exit()`;
    const { output } = await run(functionName, code, {
      ...environmentsAt(aws.url)[functionName],
      ...credentials,
      AWS_ENDPOINT_URL: aws.url,
    });
    const lines = output.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    return { answer: lines.pop(), lines, calls: aws.calls };
  }
  const namesOf = (calls: readonly ServiceCall[]) => calls.map(({ operation }) => operation);
  const entriesOf = (calls: readonly ServiceCall[]) =>
    calls.flatMap(({ body }) => (body['Entries'] ?? []) as readonly Record<string, unknown>[]);

  test('resync sends every object to its inbox', async () => {
    const event = { cluster: 'prod', operator: 'ddbctldpjob', spreadSeconds: 300 };
    const { answer: report, lines, calls } = await invoke('resync', event, cluster);
    expect(report).toEqual({ cluster: 'prod', kinds: { DdbctlDpJob: { sent: 3, rejected: 0 } } });
    expect(namesOf(calls)).toEqual(['/clusters/prod', 'SendMessageBatch']);
    const sent = entriesOf(calls).map(({ MessageBody }) => JSON.parse(String(MessageBody)).name);
    expect(sent).toEqual(['j1', 'j2', 'j3']);
    expect(lines).toContainEqual(
      expect.objectContaining({ cluster: 'prod', podless_resync_sent_total: 3 }),
    );
  });

  test('the watcher puts changes on the bus, then stores its position', async () => {
    const event = { cluster: 'prod', shiftSeconds: 2 };
    const { answer: report, lines, calls } = await invoke('watcher', event, cluster);
    expect(report).toMatchObject({ cluster: 'prod', forwarded: 4, relists: 1 });
    const details = entriesOf(calls).map(({ Detail }) => JSON.parse(String(Detail)).name);
    expect(details).toEqual(['j1', 'j2', 'j3', 'j9']);
    expect(namesOf(calls).slice(0, 4)).toEqual([
      'GetItem',
      '/clusters/prod',
      'PutEvents',
      'PutItem',
    ]);
    const stored = calls.findLast(({ operation }) => operation === 'PutItem')?.body['Item'];
    expect(stored).toMatchObject({ resourceVersion: { S: '9' } });
    expect(lines).toContainEqual(
      expect.objectContaining({ cluster: 'prod', podless_watch_connects_total: 1 }),
    );
  });

  const subject = { cluster: 'prod', kind: ddbctldpjob.kind, namespace: 'default', name: 'gone' };
  const hint = createHint(subject, 'Changed', '1');
  const event = { Records: [sqsRecord(JSON.stringify(hint), 'm1')] };

  test('a reconciler is done with an object that is gone', async () => {
    const { answer: report, lines, calls } = await invoke('ddbctldpjob', event, answer(404, {}));
    expect(report).toEqual({ batchItemFailures: [] });
    // It says first how long it may work on the message.
    expect(namesOf(calls).toSorted()).toEqual(['/clusters/prod', 'ChangeMessageVisibility']);
    expect(lines).toContainEqual(
      expect.objectContaining({ operator: 'ddbctldpjob', podless_reconcile_total: 1 }),
    );
  });

  test('a reconciler that has just started asks for its cluster and for the table at the same time', async () => {
    const Table = {
      TableStatus: 'ACTIVE',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    };
    const spec = { tableName: 'orders', partitionValue: 'customer-1', awsRegion: 'eu-west-1' };
    const preview = previewOf({ spec }, ddbctldpjob.preview ?? []);
    expect(JSON.stringify(preview)).not.toContain('customer-1');
    const message = sqsRecord(JSON.stringify({ ...hint, preview }), 'm1');
    const { calls, lines } = await invoke(
      'ddbctldpjob',
      { Records: [message] },
      answer(200, { ...job(1), spec }),
      {
        services: (find) => ({
          ...together({ ...find, DescribeTable: reply({ Table }) }),
          DeleteItem: refuse(400, 'AccessDeniedException'),
        }),
      },
    );
    // Asked once: the answer that came early is the one that is used.
    const names = namesOf(calls).filter((name) => !name.includes('Message'));
    expect(names.toSorted()).toEqual(['/clusters/prod', 'DeleteItem', 'DescribeTable']);
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'reconcile finished', outcome: 'waiting' }),
    );
  });

  test('a reconciler gives a message back that its cluster does not let it work on', async () => {
    const result = await invoke('ddbctldpjob', event, answer(200, {}), {
      clusterName: 'another cluster',
    });
    expect(result.answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    const given = result.calls.findLast(({ operation }) => operation === 'ChangeMessageVisibility');
    expect(given?.body).toMatchObject({ ReceiptHandle: 'receipt-m1' });
    // Soon, and not only when this run could no longer be at it.
    expect(given?.body['VisibilityTimeout']).toBeLessThanOrEqual(2);
    expect(result.lines).toContainEqual(
      expect.objectContaining({
        message: 'message failed',
        error: 'cluster "prod" does not accept this function\'s role: it needs an access entry',
      }),
    );
  });
});
