import { delimiter, join } from 'node:path';
import { isExecutable } from './control-plane/cache.ts';

/** Whether a command is on the PATH. */
export const isInstalled = (command: string): boolean =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && isExecutable(join(folder, command)));
