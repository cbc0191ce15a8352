import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnChild } from '../control-plane/child.ts';
import { freePort } from '../control-plane/free-port.ts';
import type { Report } from '../control-plane/progress.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { findJavaTools } from './java.ts';
import { dynamoDbLocalJars, hasDynamoDbLocalJars } from './local-jars.ts';
import type { DynamoDbServer } from './server.ts';

export interface DynamoDbLocalOptions {
  /** Default: a free one. */
  readonly port?: number;
  readonly report?: Report;
  readonly signal?: AbortSignal;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

const START_SECONDS = 60;

/** Starts Amazon's own DynamoDB Local. Needs Java and, the first time, Maven. */
export async function startDynamoDbLocal(
  options: DynamoDbLocalOptions = {},
): Promise<DynamoDbServer> {
  const { report, signal, env = process.env } = options;
  const tools = await findJavaTools(env, !hasDynamoDbLocalJars(env));
  if (!tools.ok) {
    throw new Error(
      `DynamoDB Local needs ${tools.missing}, which is not there; dynalite needs nothing`,
    );
  }
  const jars = await dynamoDbLocalJars({ env, report, signal });
  const port = options.port ?? (await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'podless-dynamodb-local-'));
  const child = await spawnChild({
    name: 'DynamoDB Local',
    command: tools.java,
    args: [
      `-Djava.library.path=${jars}`,
      ...['-cp', join(jars, '*'), 'com.amazonaws.services.dynamodbv2.local.main.ServerRunner'],
      ...['-inMemory', '-sharedDb', '-port', String(port)],
    ],
    cwd: folder,
    logFile: join(folder, 'log'),
    env: { ...env, DDB_LOCAL_TELEMETRY: '0' },
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await child.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntil({
      what: `DynamoDB Local to answer at ${url}`,
      children: [child],
      // Without a signed request it answers 400, which is an answer.
      probe: () => fetch(url).then(() => true as const),
      timeoutSeconds: START_SECONDS,
      signal,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, failed: child.exited.then((end) => `DynamoDB Local ended with ${end}`), stop };
}
