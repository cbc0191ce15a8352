import { spawn } from 'node:child_process';

export interface Guard {
  /**
   * Ends the guard without doing what it was there for; resolves when it is gone. Safe to repeat.
   */
  release(): Promise<void>;
}

/**
 * Runs `script` in a shell of its own once this process is gone, however it went: SIGKILL leaves no
 * time for handlers, but the kernel then closes our end of the guard's standard input. `args` are
 * `$1`, `$2`, ... in the script.
 */
export function whenParentDies(script: string, args: readonly string[]): Guard {
  // `detached`: in our own process group a Ctrl-C would end the guard before us.
  const guard = spawn('sh', ['-c', `read -r _; ${script}`, 'parent-guard', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  guard.once('exit', () => resolve());
  // Without a shell there is no guard, but everything else still works.
  guard.once('error', () => resolve());
  guard.stdin.on('error', () => {});
  guard.unref();
  return {
    release() {
      guard.ref();
      guard.kill('SIGKILL');
      guard.stdin.destroy();
      return gone;
    },
  };
}
