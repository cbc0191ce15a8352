import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child.ts';

export interface WaitOptions {
  /** What is waited for: `kube-apiserver to be ready`. */
  readonly what: string;
  /** Waiting is pointless once one of these has ended. */
  readonly children: readonly Child[];
  /** True when it is there, else what is still missing. It may throw: that counts as missing. */
  readonly probe: () => Promise<true | string>;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** A process ended while something else was waiting for it. */
export class ChildExitedError extends Error {
  override name = 'ChildExitedError';
}

export async function waitUntil(options: WaitOptions): Promise<void> {
  const { what, children, probe, timeoutSeconds, signal } = options;
  const deadline = performance.now() + timeoutSeconds * 1000;
  let missing = '';
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    for (const child of children) {
      if (!child.running) {
        throw new ChildExitedError(
          `${child.name} ended with ${await child.exited} while waiting for ${what}; its last log lines:\n${child.logTail()}`,
        );
      }
    }
    const answer = await probe().catch((error: unknown) => String(error));
    if (answer === true) return;
    missing = answer;
    await delay(100, undefined, signal ? { signal } : {});
  }
  const logs = children.map((child) => `${child.name}:\n${child.logTail(5)}`).join('\n');
  throw new Error(
    `waited ${timeoutSeconds} s for ${what}; last answer: ${missing}; last log lines:\n${logs}`,
  );
}
