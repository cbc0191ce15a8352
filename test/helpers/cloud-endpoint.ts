import { onTestFinished } from 'vitest';
import type { InvokableFunction } from '../../local/lambda/endpoint-context.ts';
import { startInvokeEndpoint } from '../../local/lambda/invoke-endpoint.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createMemoryLog } from './cloud-log.ts';

/** An endpoint that ends with the test, and short ways to call it. */
export async function createTestEndpoint(functions: readonly InvokableFunction[], clock?: Clock) {
  const { log, lines } = createMemoryLog();
  const endpoint = await startInvokeEndpoint({ functions, log, ...(clock && { clock }) });
  onTestFinished(() => endpoint.stop());
  const request = (path: string, init: RequestInit = {}) => fetch(`${endpoint.url}${path}`, init);
  const invoke = (name: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
    request(`/2015-03-31/functions/${name}/invocations`, { method: 'POST', body, headers });
  return { endpoint, lines, request, invoke };
}

/** A function without threads: each run does what the next of `outcomes` says. */
export function createScriptedFunction(outcomes: readonly ('ok' | 'error')[]) {
  const runs: unknown[] = [];
  const scripted: InvokableFunction = {
    functionName: 'podless-scripted',
    timeoutSeconds: 3,
    memoryMegabytes: 128,
    invoke: async (payload) => {
      const outcome = outcomes[runs.length] ?? 'ok';
      runs.push(payload);
      const report = { requestId: 'r', durationMilliseconds: 1, logTail: '' };
      if (outcome === 'ok') return { ...report, result: 'ok', payload: '"done"' };
      return { ...report, result: 'error', error: { errorType: 'Error', errorMessage: 'boom' } };
    },
  };
  return { scripted, runs };
}
