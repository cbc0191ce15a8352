import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { client } from '../helpers/commands.ts';
import type { Template } from './synthesize.ts';

const folder = mkdtempSync(join(tmpdir(), 'podless-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const synth = (...values: readonly string[]) => {
  const args = values.flatMap((value) => ['-c', value]);
  // A home without credentials, and nothing in the environment that would lead to some.
  const env = { HOME: folder, AWS_EC2_METADATA_DISABLED: 'true', AWS_PROFILE: '', AWS_REGION: '' };
  return client('npx', ['cdk', 'synth', '--quiet', '--output', folder, ...args], env);
};

test('npx cdk synth makes one stack with all functions, without an account', async () => {
  const { code, stderr } = await synth('clusters=prod', 'tables=orders');
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('rror')]);
  const text = readFileSync(join(folder, 'Podless.template.json'), 'utf8');
  const resources = Object.values((JSON.parse(text) as Template).Resources);
  const functions = resources.filter(({ Type }) => Type === 'AWS::Lambda::Function');
  expect(functions.map(({ Properties }) => Properties['FunctionName']).sort()).toEqual([
    'podless-collector',
    'podless-ddbctldpjob',
    'podless-goop',
    'podless-minimart',
    'podless-myownshell',
    'podless-resync',
    'podless-watcher-prod',
  ]);
});

test('npx cdk synth fails on wrong values with a message and without a stack trace', async () => {
  const { code, stderr } = await synth('cluster=prod', 'tables=*');
  expect(code).toBe(1);
  expect(stderr).toContain('-c clusters was probably meant by -c cluster="prod"');
  expect(stderr).toContain('example   npx cdk deploy -c clusters=prod');
  expect(stderr).not.toMatch(/^\s+at /m);
});
