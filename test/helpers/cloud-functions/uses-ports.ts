import { createHint } from '../../../runtime/hint.ts';
import type { CreateFunction } from '../../../runtime/platform.ts';

const kind = { group: 'podless.dev', version: 'v1', kind: 'Job', plural: 'jobs' };

/** Uses every port; then hangs if the event says so. */
export const createFunction: CreateFunction = (platform) => async (event) => {
  const { hang, receiptHandle } = event as { hang?: boolean; receiptHandle?: string };
  const cluster = platform.clusters[0] ?? 'none';
  const hint = createHint({ cluster, kind, namespace: 'default', name: 'x' }, 'Changed', '1');
  await platform.bus.put([hint]);
  await platform.inbox('jobs').send([{ hint, delaySeconds: 30 }]);
  const before = await platform.cursors.read('key');
  await platform.cursors.write('key', '42');
  const after = await platform.cursors.read('key');
  platform.metrics.count('podless_resync_sent_total', { kind: 'Job' }, 2);
  if (hang) await new Promise(() => {});
  const refusal = await platform
    .workQueue('jobs')
    .retryAfter(receiptHandle ?? 'unknown', 5)
    .then(
      () => null,
      (error: Error) => `${error.name}: ${error.message}`,
    );
  const aborted = await platform.bus.put([hint], AbortSignal.abort(new Error('too late'))).then(
    () => null,
    (error: Error) => error.message,
  );
  return { before, after, refusal, aborted };
};
