/** Entry of a thread or process that runs a program through `createHelm` and is killed meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { createHelm } from '../../runtime/helm/helm-command.ts';

const [program, ...args] = (workerData ?? process.argv.slice(2)) as readonly string[];
if (program === undefined) throw new Error('a program must be given');
// So that a process lives on by itself, as a function does.
if (!parentPort) setInterval(() => undefined, 1_000);
await createHelm({ path: program })({
  args,
  files: new Map([['secret', 'of this run']]),
  limitMilliseconds: 60_000,
});
