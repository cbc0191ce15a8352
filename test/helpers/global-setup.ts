import { createConsole } from '../../local/console.ts';
import { binaryNames, resolveBinaries } from '../../local/control-plane/index.ts';

/** On a fresh machine this takes minutes: done once, before any test, and visibly. */
export async function setup(): Promise<void> {
  const { progress } = createConsole(process.stderr);
  await resolveBinaries(binaryNames, { report: progress });
}
