import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isAlive } from './control-plane/is-alive.ts';
import type { System } from './system.ts';

/** Where a running local system tells other programs how to reach it: `.podless/` in the working folder, which npm sets to the project's. */
export interface StateFolder {
  file(name: string): string;
  kubeconfigPath(system: System): string;
  /** Writes `<name>.json`; it is complete from the moment it is there. */
  publish(system: System): Promise<string>;
  release(): Promise<void>;
}

const folder = resolve('.podless');

/** Fails if another system of this name runs in this folder. What one that was killed has left is taken over. */
export async function claimStateFolder(name: string): Promise<StateFolder> {
  await mkdir(folder, { recursive: true });
  const file = (part: string) => join(folder, part);
  const info = file(`${name}.json`);
  await refuseIfRunning(info);
  const ownKubeconfig = file('kubeconfig');
  const kubeconfigPath = ({ cluster: { kubeconfig } }: System) =>
    'path' in kubeconfig ? resolve(kubeconfig.path) : ownKubeconfig;
  return {
    file,
    kubeconfigPath,
    publish: async (system) => {
      const { cluster, dynamodb, s3, lambda, http } = system;
      if ('text' in cluster.kubeconfig) {
        await writeFile(ownKubeconfig, cluster.kubeconfig.text, { mode: 0o600 });
      }
      const content = {
        kubeconfig: kubeconfigPath(system),
        dynamodb,
        s3,
        lambda,
        http,
        pid: process.pid,
      };
      await writeFile(`${info}.new`, `${JSON.stringify(content, undefined, 2)}\n`);
      await rename(`${info}.new`, info);
      return info;
    },
    release: async () => {
      await rm(info, { force: true });
      await rm(ownKubeconfig, { force: true });
    },
  };
}

async function refuseIfRunning(info: string): Promise<void> {
  if (!existsSync(info)) return;
  const text = await readFile(info, 'utf8').catch(() => '{}');
  const pid = pidIn(text);
  if (pid !== undefined && isAlive(pid)) {
    throw new Error(`another local system runs here as process ${pid} (${info}); stop it first`);
  }
}

function pidIn(text: string): number | undefined {
  try {
    const { pid } = JSON.parse(text) as { pid?: unknown };
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}
