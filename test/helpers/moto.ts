import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnChild } from '../../local/control-plane/child.ts';
import { freePort } from '../../local/control-plane/free-port.ts';
import { waitUntil } from '../../local/control-plane/wait-until.ts';
import { pythonEnvironment, pythonMissing } from '../../local/python/environment.ts';

/** Why moto cannot run on this machine, or undefined if it can. */
export const motoMissing = pythonMissing;

/** For the name of a suite: says, where moto is not there, that nothing was tested and why. */
export const motoName =
  motoMissing === undefined ? 'AWS as moto has it' : `AWS (not tested: ${motoMissing})`;

/** AWS over the wire, in memory. */
export interface Moto {
  /** `http://localhost:<port>`, for every service. */
  readonly url: string;
  /** Safe to repeat. */
  stop(): Promise<void>;
}

export async function startMoto(): Promise<Moto> {
  const bin = await pythonEnvironment();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'podless-moto-'));
  const child = await spawnChild({
    name: 'moto_server',
    command: join(bin, 'moto_server'),
    args: ['-p', String(port)],
    logFile: join(folder, 'moto.log'),
  });
  const stop = async () => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  // By name: moto answers with addresses of its own making, and with a number in the place of the name they are wrong.
  const url = `http://localhost:${port}`;
  const probe = async () => {
    const { ok, status } = await fetch(`${url}/moto-api/data.json`);
    return ok || `HTTP ${status}`;
  };
  try {
    await waitUntil({ what: 'moto to be ready', children: [child], probe, timeoutSeconds: 60 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
