import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { withLock } from '../../../local/control-plane/lock.ts';

const project = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** `-c` values. */
export type ContextValues = Readonly<Record<string, string>>;

/**
 * What a person does: `cdk synth -c key=value ...`, without an account. The same values are synthesized once for all files.
 *
 * @returns path of the template; its assets lie beside it
 */
export async function synthesizeByCli(values: ContextValues): Promise<string> {
  const context = Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const name = createHash('sha256').update(context.join(' ')).digest('hex').slice(0, 12);
  const shared = inject('synthesizedFolder');
  const folder = join(shared, name);
  const template = join(folder, 'Podless.template.json');
  // One at a time: a synthesis keeps both cores busy, and another file may be about to make the same.
  await withLock(join(shared, 'lock'), async () => {
    if (!existsSync(template)) await synthesizeInto(folder, context);
  });
  return template;
}

async function synthesizeInto(folder: string, context: readonly string[]): Promise<void> {
  const cdk = join(project, 'node_modules/aws-cdk/bin/cdk');
  const { AWS_PROFILE: _, ...environment } = process.env;
  // The app is started as `node`: it must be the one that runs this.
  const PATH = [dirname(process.execPath), environment['PATH'] ?? ''].join(delimiter);
  await run(process.execPath, [cdk, 'synth', '--quiet', ...context, '-o', folder], {
    cwd: project,
    env: { ...environment, PATH },
  });
}
