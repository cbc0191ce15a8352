import { syncChildren } from '../../runtime/children/sync.ts';
import { TerminalError } from '../../runtime/errors.ts';
import type { Reconciler } from '../../runtime/reconcile.ts';
import { configMapOf, deploymentOf } from './children.ts';
import { dropOldFinalizer } from './old-finalizer.ts';
import { parseSpec } from './spec.ts';
import { describeFailure, report, statusOf } from './status.ts';

export const reconciler: Reconciler = {
  describeFailure,
  reconcile: async (object, context) => {
    const spec = parseSpec(object);
    if (!spec.ok) throw new TerminalError('InvalidSpec', spec.problem);
    const { known, plan } = await dropOldFinalizer(object, context);
    const manifests = [deploymentOf(object, spec.value), configMapOf(object, spec.value)];
    const children = await syncChildren(object, manifests, context, known);
    return { ...report(children), plan: [...plan, ...children.map((child) => child.plan)] };
  },
  /** The children go with their owner: the garbage collector sees to that. */
  finalize: async (object, context) => {
    const { plan } = await dropOldFinalizer(object, context);
    const message = 'deleted; its Deployment and ConfigMap go with it';
    context.log.info('shell deleted');
    await context.announce({ reason: 'Deleted', message });
    return { status: statusOf(object), conditions: [], plan };
  },
};
