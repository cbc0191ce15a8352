import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const project = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

export interface Synthesized {
  /** Path of the template; its assets lie beside it. */
  readonly template: string;
  remove(): Promise<void>;
}

/** What a person does: `cdk synth -c key=value ...`, into a folder of its own. No account is needed. */
export async function synthesizeByCli(
  values: Readonly<Record<string, string>>,
): Promise<Synthesized> {
  const folder = mkdtempSync(join(tmpdir(), 'podless-synth-'));
  const context = Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const cdk = join(project, 'node_modules/aws-cdk/bin/cdk');
  const { AWS_PROFILE: _, ...environment } = process.env;
  // The app is started as `node`: it must be the one that runs this.
  const PATH = [dirname(process.execPath), environment['PATH'] ?? ''].join(delimiter);
  await run(process.execPath, [cdk, 'synth', '--quiet', ...context, '-o', folder], {
    cwd: project,
    env: { ...environment, PATH },
  });
  return {
    template: join(folder, 'Podless.template.json'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
