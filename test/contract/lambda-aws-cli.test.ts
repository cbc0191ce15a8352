import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { InvokableFunction } from '../../local/lambda/endpoint-context.ts';
import { createScriptedFunction, createTestEndpoint } from '../helpers/cloud-endpoint.ts';
import { createTestPool } from '../helpers/cloud-pool.ts';

const version = spawnSync('aws', ['--version'], { encoding: 'utf8' });
const installed = version.status === 0;
/** Version 2 takes payloads as base64 unless told otherwise; version 1 does not know the option. */
const rawPayload = version.stdout?.startsWith('aws-cli/2')
  ? ['--cli-binary-format', 'raw-in-base64-out']
  : [];
const about = installed ? version.stdout.trim().split(' ')[0] : 'skipped: aws is not installed';

describe.skipIf(!installed)(`the AWS CLI (${about})`, { timeout: 60_000 }, () => {
  test('invokes a function and gets its answer and log', async () => {
    const { aws, outFile } = await createCli([createTestPool('echo').pool]);
    const payload = ['--payload', '{"namespace":"default","name":"ü"}', ...rawPayload];
    const target = ['--function-name', 'podless-echo', '--log-type', 'Tail'];
    const { code, stdout } = await aws('invoke', ...target, ...payload, outFile);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
    expect(JSON.parse(stdout)).not.toHaveProperty('FunctionError');
    const log = Buffer.from(JSON.parse(stdout).LogResult, 'base64').toString();
    expect(log).toContain('"message":"echoing"');
    expect(JSON.parse(await readFile(outFile, 'utf8'))).toMatchObject({
      event: { namespace: 'default', name: 'ü' },
    });
  });

  test('shows a failed run as FunctionError with the error as payload', async () => {
    const { aws, outFile } = await createCli([createTestPool('misbehave').pool]);
    const target = ['--function-name', 'podless-misbehave'];
    const payload = ['--payload', '{"act":"throw"}', ...rawPayload];
    const { code, stdout } = await aws('invoke', ...target, ...payload, outFile);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ StatusCode: 200, FunctionError: 'Unhandled' });
    expect(JSON.parse(await readFile(outFile, 'utf8'))).toMatchObject({ errorType: 'RangeError' });
  });

  test.each([
    ['Event', 202],
    ['DryRun', 204],
  ])('invocation type %s answers %i', async (type, status) => {
    const { scripted, runs } = createScriptedFunction([]);
    const { aws, outFile } = await createCli([scripted]);
    const target = ['--function-name', 'podless-scripted', '--invocation-type', type];
    const { stdout } = await aws('invoke', ...target, outFile);
    expect(JSON.parse(stdout)).toMatchObject({ StatusCode: status });
    expect(runs).toHaveLength(type === 'Event' ? 1 : 0);
  });

  test('prints why an unknown function or a payload that is no JSON was refused', async () => {
    const { scripted } = createScriptedFunction([]);
    const { aws, outFile } = await createCli([scripted]);
    const unknown = await aws('invoke', '--function-name', 'podless-nobody', outFile);
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toMatch(
      /\(ResourceNotFoundException\).*Function not found: arn:aws:lambda:us-east-1:.*podless-nobody/,
    );
    const target = ['--function-name', 'podless-scripted'];
    const broken = await aws('invoke', ...target, '--payload', '{oops', ...rawPayload, outFile);
    expect(broken.code).not.toBe(0);
    expect(broken.stderr).toMatch(
      /\(InvalidRequestContentException\).*Could not parse request body/,
    );
  });

  test('lists and describes functions', async () => {
    const { scripted } = createScriptedFunction([]);
    const { aws } = await createCli([scripted]);
    const listed = await aws('list-functions', '--query', 'Functions[].FunctionName');
    expect(JSON.parse(listed.stdout)).toEqual(['podless-scripted']);
    const described = await aws('get-function', '--function-name', 'podless-scripted');
    expect(JSON.parse(described.stdout)).toMatchObject({ Configuration: { Timeout: 3 } });
  });
});

interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function createCli(functions: readonly InvokableFunction[]) {
  const { endpoint } = await createTestEndpoint(functions);
  const folder = await mkdtemp(join(tmpdir(), 'podless-cli-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env = {
    ...process.env,
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_PAGER: '',
  };
  const aws = (...args: readonly string[]) =>
    new Promise<CliResult>((resolve) => {
      const all = ['lambda', ...args, '--endpoint-url', endpoint.url, '--output', 'json'];
      execFile('aws', all, { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      );
    });
  return { aws, outFile: join(folder, 'out.json') };
}
