import type { InvokableFunction } from '../../../local/lambda/endpoint-context.ts';
import type { InvocationResult } from '../../../local/lambda/invocation.ts';
import { type InvokeEndpoint, startInvokeEndpoint } from '../../../local/lambda/invoke-endpoint.ts';
import { createLogTail } from '../../../local/lambda/log-tail.ts';
import type { Log, LogLine } from '../../../runtime/log.ts';
import type { FunctionResult } from './environment-pool.ts';
import type { FunctionHost } from './function-host.ts';

export interface HostEndpointOptions {
  readonly hosts: readonly FunctionHost[];
  readonly region: string;
  readonly log: Log;
}

/** Lambda's Invoke API for functions that run in processes: `aws lambda invoke --endpoint-url <url>`. */
export const startHostEndpoint = ({
  hosts,
  region,
  log,
}: HostEndpointOptions): Promise<InvokeEndpoint> =>
  startInvokeEndpoint({ functions: hosts.map(asInvokable), region, log });

const asInvokable = (host: FunctionHost): InvokableFunction => ({
  functionName: host.name,
  timeoutSeconds: host.timeoutSeconds,
  memoryMegabytes: host.memoryMegabytes,
  invoke: async (payload, options) =>
    asInvocation(await host.invoke(JSON.stringify(payload), options)),
});

function asInvocation(result: FunctionResult): InvocationResult {
  const { requestId, durationMilliseconds } = result;
  const report = { requestId, durationMilliseconds, logTail: tailOf(result) };
  if (result.ok) return { ...report, result: 'ok', payload: result.payload };
  const { kind, error } = result;
  return { ...report, result: kind === 'timeout' ? 'timeout' : 'error', error };
}

function tailOf({ requestId, log }: FunctionResult): string {
  const tail = createLogTail(requestId);
  // Only written out again: whether a function's line has a level does not matter.
  for (const line of log) tail.append(line as LogLine);
  return tail.text();
}
