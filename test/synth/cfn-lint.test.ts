import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pythonEnvironment, pythonMissing } from '../../local/python/environment.ts';
import { client } from '../helpers/commands.ts';
import { oneCluster, synthesize, twoClustersInVpc } from './synthesize.ts';

const folder = mkdtempSync(join(tmpdir(), 'podless-cfn-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** CDK names a dependency that a reference implies as well: harmless, and not ours to write. */
const ignored = ['--ignore-checks', 'W3005'];

test.skipIf(pythonMissing)(
  `cfn-lint finds nothing in the templates${pythonMissing ? ` (skipped: ${pythonMissing})` : ''}`,
  async () => {
    // All operators once: it takes its time with each resource.
    const inVpc = { ...twoClustersInVpc, operators: 'ddbctldpjob,collector' };
    const files = [oneCluster, inVpc].map((values, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(synthesize(values)));
      return file;
    });
    const command = join(await pythonEnvironment(), 'cfn-lint');
    const { code, stdout, stderr } = await client(command, [...ignored, '--', ...files], {});
    expect(stdout + stderr).toBe('');
    expect(code).toBe(0);
  },
);
