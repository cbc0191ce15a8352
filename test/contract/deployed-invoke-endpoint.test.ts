import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { isInstalled } from '../../local/installed.ts';
import { startHostEndpoint } from '../deployed/compute/invoke-endpoint.ts';
import { acts, hostOf } from '../deployed/compute/sample-bundles.ts';
import { createMemoryLog } from '../helpers/cloud-log.ts';
import { client, newFolder, removeFolders } from '../helpers/commands.ts';

afterAll(removeFolders);

async function endpointOf(timeoutSeconds = 20) {
  const { host, log: lines } = hostOf(acts, { timeoutSeconds, maxConcurrency: 1 });
  const { log } = createMemoryLog();
  const endpoint = await startHostEndpoint({ hosts: [host], region: 'eu-west-1', log });
  onTestFinished(() => endpoint.stop());
  const invoke = (payload: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${endpoint.url}/2015-03-31/functions/podless-test/invocations`, {
      method: 'POST',
      body: JSON.stringify(payload),
      headers,
    });
  return { endpoint, invoke, lines };
}

describe("Lambda's Invoke API reaches a function in a process", () => {
  test('with its answer and the end of its log', async () => {
    const { invoke } = await endpointOf();
    const response = await invoke({}, { 'x-amz-log-type': 'Tail' });
    expect(response.headers.get('x-amz-function-error')).toBeNull();
    const { pid } = (await response.json()) as { readonly pid: number };
    expect(pid).not.toBe(process.pid);
    const tail = Buffer.from(response.headers.get('x-amz-log-result') ?? '', 'base64').toString();
    expect(tail).toMatch(new RegExp(`^START.*"acting".*"pid":${pid}.*END`, 's'));
  });

  test.each([
    ['throw', 'RangeError', 20],
    ['exit', 'Runtime.ExitError', 20],
    ['hang', 'Sandbox.Timedout', 1],
  ])('with its failure (%s) as payload', async (act, errorType, timeoutSeconds) => {
    const { invoke } = await endpointOf(timeoutSeconds);
    const response = await invoke({ act });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-amz-function-error')).toBe('Unhandled');
    expect(await response.json()).toMatchObject({ errorType });
  });

  test('and is told when it is busy', async () => {
    const { invoke, lines } = await endpointOf(3);
    const first = invoke({ act: 'hang' });
    await expect.poll(() => lines, { timeout: 10_000 }).toHaveLength(1);
    expect((await invoke({})).status).toBe(429);
    expect((await first).status).toBe(200);
  });

  test('by the AWS CLI', async ({ skip }) => {
    if (!isInstalled('aws')) skip('no AWS CLI on this machine');
    const { endpoint } = await endpointOf();
    const target = ['--function-name', 'podless-test', '--endpoint-url', endpoint.url];
    const { code, stdout, stderr } = await client(
      'aws',
      ['lambda', 'invoke', ...target, '--output', 'json', `${newFolder()}/out.json`],
      {
        AWS_ACCESS_KEY_ID: 'x',
        AWS_SECRET_ACCESS_KEY: 'x',
        AWS_DEFAULT_REGION: 'eu-west-1',
        AWS_PAGER: '',
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ StatusCode: 200, ExecutedVersion: '$LATEST' });
  });
});
