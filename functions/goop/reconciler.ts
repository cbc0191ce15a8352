import { TerminalError } from '../../runtime/errors.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { runJobs } from './run-jobs.ts';
import { runOnNodes } from './run-on-nodes.ts';
import { parseSpec } from './spec.ts';
import { describeFailure, finalized, report } from './status.ts';

const ways = { Jobs: runJobs, DaemonSet: runOnNodes } as const;

export const reconciler: Reconciler = {
  describeFailure,
  reconcile: async (object, context) => {
    const spec = parseSpec(object.spec);
    if (!spec.ok) throw new TerminalError('InvalidSpec', spec.problem);
    const run = ways[spec.value.mode];
    return report(spec.value, await run(object, spec.value, context));
  },
  /** The workers go with their owner: the garbage collector sees to that. */
  finalize: async (object, { log }) => {
    log.info('goop deleted');
    return finalized(object);
  },
};
