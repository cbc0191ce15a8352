import type { IncomingMessage } from 'node:http';
import { runAsynchronously } from './async-invocations.ts';
import type { EndpointContext, InvokableFunction } from './endpoint-context.ts';
import { type Answer, readJson } from './http-exchange.ts';
import type { InvocationResult } from './invocation.ts';
import { invalidParameter } from './service-error.ts';

interface InvokeRequest {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly context: EndpointContext;
}

/** Lambda's limits of a payload, by invocation type. */
const maxPayloadBytes = {
  RequestResponse: 6_291_456,
  Event: 1_048_576,
  DryRun: 6_291_456,
} as const;

type InvocationType = keyof typeof maxPayloadBytes;

/** The Invoke operation: synchronous, asynchronous, or only a check. */
export async function invoke(
  target: InvokableFunction,
  { request, requestId, context }: InvokeRequest,
): Promise<Answer> {
  const type = invocationType(request);
  const payload = await readJson(request, maxPayloadBytes[type]);
  switch (type) {
    case 'DryRun':
      return { status: 204 };
    case 'Event':
      void runAsynchronously(
        {
          functionName: target.functionName,
          requestId,
          run: () => target.invoke(payload, { requestId }),
        },
        context,
      );
      return { status: 202 };
    case 'RequestResponse':
      return describeRun(
        await target.invoke(payload, { requestId, whenBusy: 'reject' }),
        request.headers['x-amz-log-type'] === 'Tail',
      );
  }
}

function invocationType({ headers }: IncomingMessage): InvocationType {
  const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (typeof type === 'string' && Object.hasOwn(maxPayloadBytes, type))
    return type as InvocationType;
  throw invalidParameter(
    `invocation type must be RequestResponse, Event or DryRun, got ${JSON.stringify(type)}`,
  );
}

/** A function that failed is no error of the service: 200, a header that says so, and the error as payload. */
function describeRun(run: InvocationResult, withLogTail: boolean): Answer {
  return {
    status: 200,
    headers: {
      'X-Amz-Executed-Version': '$LATEST',
      ...(run.result !== 'ok' && { 'X-Amz-Function-Error': 'Unhandled' }),
      ...(withLogTail && { 'X-Amz-Log-Result': Buffer.from(run.logTail).toString('base64') }),
    },
    body: run.result === 'ok' ? run.payload : JSON.stringify(run.error),
  };
}
