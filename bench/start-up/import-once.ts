import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { functionEnvironment } from './environment.ts';

const run = promisify(execFile);

/**
 * Milliseconds to import a module in a fresh process. The script says nothing of `node:` modules before the import: what
 * the bundle needs of them is part of its start.
 */
const TIME_IMPORT = `
  const startedAt = performance.now();
  await import(process.argv[1]);
  console.log(performance.now() - startedAt);
  process.exit();
`;

/** How many connections are begun while a module is imported, and in the moment after. */
const COUNT_CONNECTIONS = `
  const { Socket } = await import('node:net');
  let connections = 0;
  Socket.prototype.connect = function connect() {
    connections += 1;
    return this;
  };
  await import(process.argv[1]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log(connections);
  process.exit();
`;

export const timeImport = (file: string): Promise<number> => inFreshProcess(TIME_IMPORT, file);
export const countConnections = (file: string): Promise<number> =>
  inFreshProcess(COUNT_CONNECTIONS, file);

async function inFreshProcess(script: string, file: string): Promise<number> {
  const args = ['--input-type=module', '--eval', script, file];
  try {
    const { stdout } = await run(process.execPath, args, { env: functionEnvironment() });
    return Number(stdout);
  } catch (error) {
    // Node prints the line of code too, which in a bundle is most of the bundle.
    const { stderr = String(error) } = error as { stderr?: string };
    const reason = stderr.split('\n').find((line) => /^\w*Error\b/.test(line)) ?? 'no reason given';
    throw new Error(`${file} does not load: ${reason}`);
  }
}
