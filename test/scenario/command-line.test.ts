import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInstalled } from '../../local/installed.ts';
import {
  type Addresses,
  addressesIn,
  client,
  descendantsOf,
  newFolder,
  removeFolders,
  type Started,
  start,
  stillRunning,
} from '../helpers/commands.ts';
import { until } from '../helpers/until.ts';

const aws = {
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_DEFAULT_REGION: 'eu-west-1',
  AWS_PAGER: '',
};
const gone = (pids: readonly number[]) =>
  until(async () => ((await stillRunning(pids)).length === 0 ? true : undefined), {
    seconds: 15,
    what: async () => `processes ${(await stillRunning(pids)).join(', ')} to end`,
  });

afterAll(removeFolders);

describe('npm run local', () => {
  const folder = newFolder();
  let local: Started;
  let addresses: Addresses;
  const kubectl = (...args: string[]) =>
    client('kubectl', args, { KUBECONFIG: addresses.kubeconfig });
  const dynamodb = (...args: string[]) =>
    client('aws', ['dynamodb', ...args, '--endpoint-url', addresses.dynamodb], aws);
  const invoke = (functionName: string, payload: string) => {
    const file = join(folder, 'out.json');
    const args = [
      'lambda',
      'invoke',
      '--endpoint-url',
      addresses.lambda,
      '--function-name',
      functionName,
    ];
    return client('aws', [...args, '--payload', payload, file], aws).then(async (result) => ({
      ...result,
      answer: existsSync(file) ? await readFile(file, 'utf8') : '',
    }));
  };

  beforeAll(async () => {
    local = start('local', ['--function-timeout', '20', '--resync', '60'], folder);
    addresses = await addressesIn(folder, local);
  });
  afterAll(async () => {
    local.child.kill('SIGKILL');
  });

  test('says that it is ready, and serves health, readiness and metrics', async () => {
    await until(async () => (/^ready: /m.test(local.output()) ? true : undefined), {
      seconds: 5,
      what: async () => 'the line',
    });
    expect(addresses.pid).toBe(local.child.pid);
    for (const page of ['healthz', 'readyz']) {
      expect((await fetch(`${addresses.http}/${page}`)).status).toBe(200);
    }
    const metrics = await (await fetch(`${addresses.http}/metrics`)).text();
    expect(metrics).toContain('podless_reconcile_total{operator="ddbctldpjob",outcome="error"} 0');
    expect((await fetch(`${addresses.http}/nothing`)).status).toBe(404);
  });

  test('refuses a second one in the same folder', async () => {
    const second = start('local', [], folder);
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`process ${local.child.pid}`);
    expect(existsSync(join(folder, '.podless/local.json'))).toBe(true);
  });

  test.skipIf(!isInstalled('kubectl') || !isInstalled('aws'))(
    'serves kubectl and aws from another terminal: the sample deletes its partition',
    async () => {
      expect(await kubectl('apply', '-k', 'crds')).toMatchObject({ code: 0 });
      const keys = ['AttributeName=id,KeyType=HASH', 'AttributeName=at,KeyType=RANGE'];
      const types = ['AttributeName=id,AttributeType=S', 'AttributeName=at,AttributeType=N'];
      const table = ['--table-name', 'my-dynamodb-table'];
      const shape = ['--key-schema', ...keys, '--attribute-definitions', ...types];
      expect(
        await dynamodb('create-table', ...table, ...shape, '--billing-mode', 'PAY_PER_REQUEST'),
      ).toMatchObject({ code: 0 });
      for (const id of ['partition-key-value', 'partition-key-value', 'neighbour']) {
        const item = { id: { S: id }, at: { N: String(Math.random()) } };
        expect(await dynamodb('put-item', ...table, '--item', JSON.stringify(item))).toMatchObject({
          code: 0,
        });
      }
      expect(await kubectl('apply', '-f', 'crds/samples/ddbctldpjob.yaml')).toMatchObject({
        code: 0,
      });
      const wait = [
        'wait',
        '--for=condition=Ready',
        '--timeout=60s',
        'ddbctldpjob/ddbctldpjob-sample',
      ];
      expect(await kubectl(...wait)).toMatchObject({ code: 0 });
      const { stdout } = await kubectl('get', 'ddbctldpjobs', '-o', 'wide');
      expect(stdout).toMatch(/NAME +PHASE +TABLE +DELETED +AGE +MESSAGE/);
      expect(stdout).toMatch(
        /ddbctldpjob-sample +Completed +my-dynamodb-table +2 .*deleted 2 items; the partition is empty/,
      );
      const scan = await dynamodb('scan', ...table, '--query', 'Items[].id.S', '--output', 'text');
      expect(scan.stdout.trim()).toBe('neighbour');
      const described = await kubectl('describe', 'ddbctldpjob', 'ddbctldpjob-sample');
      expect(described.stdout).toMatch(/Normal +Completed/);
    },
  );

  test.skipIf(!isInstalled('aws'))('answers aws lambda invoke, mistakes included', async () => {
    const unknown = await invoke('podless-nothing', '{}');
    expect(unknown.stderr).toContain('ResourceNotFoundException');
    const broken = await invoke('podless-ddbctldpjob', '{"name":');
    expect(broken.stderr).toContain('InvalidRequestContentException');
    const nameless = await invoke('podless-ddbctldpjob', '{"namespace":"default"}');
    expect(nameless.stdout).toContain('Unhandled');
    expect(nameless.answer).toContain('name must be the name of an object, got nothing');
    const missing = await invoke('podless-ddbctldpjob', '{"name":"not-there"}');
    expect(JSON.parse(missing.answer)).toMatchObject({
      outcome: 'skipped',
      reason: 'the object does not exist',
    });
  });

  test('ends on SIGTERM with all its processes, and takes its file with it', async () => {
    const pids = await descendantsOf(addresses.pid);
    expect(pids.length).toBeGreaterThanOrEqual(2);
    local.child.kill('SIGTERM');
    expect(await local.ended).toBe(0);
    await gone(pids);
    expect(existsSync(join(folder, '.podless/local.json'))).toBe(false);
  });
});

describe('npm run local against a cluster that is there already', () => {
  test('runs by --kubeconfig with the functions own identities, and leaves the cluster running', async () => {
    const [first, second] = [newFolder(), newFolder()];
    const host = start('local', [], first);
    const { kubeconfig } = await addressesIn(first, host);
    const guest = start('local', ['--kubeconfig', kubeconfig], second);
    const addresses = await addressesIn(second, guest);
    expect(addresses.kubeconfig).toBe(kubeconfig);
    const response = await fetch(
      `${addresses.lambda}/2015-03-31/functions/podless-resync/invocations`,
      { method: 'POST', body: '{}' },
    );
    expect(await response.json()).toMatchObject({ kinds: { DdbctlDpJob: { sent: 0 } } });
    guest.child.kill('SIGINT');
    expect(await guest.ended).toBe(0);
    expect((await fetch(`${(await addressesIn(first, host)).http}/readyz`)).status).toBe(200);
    const pids = await descendantsOf(host.child.pid ?? 0);
    host.child.kill('SIGKILL');
    await host.ended;
    await gone(pids);
  });

  test('says what is wrong with its options', async () => {
    const cases = [
      [
        ['--function-timeout', '0'],
        '--function-timeout must be a number of at least 1, got "0"',
        2,
      ],
      [['--resync', 'often'], '--resync must be a number of at least 1, got "often"', 2],
      [['--nonsense'], "Unknown option '--nonsense'", 2],
      [
        ['--dynamodb', 'mongodb'],
        '--dynamodb must be dynalite, dynamodb-local or an http(s) address, got "mongodb"',
        1,
      ],
      [['--kubeconfig', 'nowhere'], '--kubeconfig nowhere cannot be read', 1],
    ] as const;
    for (const [args, message, code] of cases) {
      const { ended, output } = start('local', args, newFolder());
      expect(await ended).toBe(code);
      expect(output()).toContain(message);
    }
    const help = start('local', ['--help'], newFolder());
    expect(await help.ended).toBe(0);
    expect(help.output()).toContain('--function-timeout <seconds>');
  });
});

describe('npm run demo', () => {
  test('deletes the partition, and proves it from the table in its last line', async () => {
    const demo = start('demo', ['--items', '1200', '--json'], newFolder());
    expect(await demo.ended).toBe(0);
    const last = demo.output().trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toEqual({
      items: 1200,
      deleted: 1200,
      left: 0,
      neighbours: 300,
      neighboursLeft: 300,
      seconds: expect.any(Number),
      phase: 'Completed',
    });
    expect(demo.output()).not.toContain('\r');
  });

  test('leaves no process behind when it is interrupted', async () => {
    const demo = start('demo', [], newFolder());
    await until(
      async () => (/table podless-demo|Kubernetes API/.test(demo.output()) ? true : undefined),
      { seconds: 60, what: async () => demo.output() },
    );
    const pids = await descendantsOf(demo.child.pid ?? 0);
    expect(pids.length).toBeGreaterThanOrEqual(2);
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(130);
    await gone(pids);
  });
});
