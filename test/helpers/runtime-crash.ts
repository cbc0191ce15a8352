import type { Inbox } from '../../runtime/cloud.ts';
import { type KubeClient, KubeConnectionError } from '../../runtime/kube/client.ts';

/** Which call goes wrong, and how. */
export interface CrashPlan {
  /** Counted from 1 over all calls. */
  readonly call: number;
  /** Before the call is carried out, or after: then only the answer is lost. */
  readonly when: 'before' | 'after';
  /** The call alone, or, as when the process dies, all that follow in the same run too. */
  readonly what: 'lost' | 'crash';
}

/** Counts every call to the world, and lets one of them fail as a broken connection does. */
export function createFaultPoint(plan?: CrashPlan) {
  let calls = 0;
  let dead = false;
  const lose = (): never => {
    throw new KubeConnectionError('the connection was lost');
  };

  async function attempt<T>(call: () => Promise<T>): Promise<T> {
    if (dead) return lose();
    calls += 1;
    if (plan?.call !== calls) return call();
    dead = plan.what === 'crash';
    if (plan.when === 'after') await call();
    return lose();
  }

  return {
    /** Makes one call to the world. */
    attempt,
    /** So far. */
    calls: () => calls,
    /** A new process, with the same plan. */
    restart: () => {
      dead = false;
    },
    wrapKube: (kube: KubeClient): KubeClient => ({
      get: (...call) => attempt(() => kube.get(...call)),
      list: (...call) => attempt(() => kube.list(...call)),
      watch: (...call) => attempt(() => kube.watch(...call)),
      apply: (...call) => attempt(() => kube.apply(...call)),
      mergePatch: (...call) => attempt(() => kube.mergePatch(...call)),
      create: (...call) => attempt(() => kube.create(...call)),
      delete: (...call) => attempt(() => kube.delete(...call)),
      serverVersion: (...call) => attempt(() => kube.serverVersion(...call)),
    }),
    wrapInbox: (inbox: Inbox): Inbox => ({ send: (hints) => attempt(() => inbox.send(hints)) }),
  };
}

export type FaultPoint = ReturnType<typeof createFaultPoint>;
