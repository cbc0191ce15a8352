import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { describeError, type Log } from '../../runtime/log.ts';
import type { EndpointContext, InvokableFunction } from './endpoint-context.ts';
import { describeConfiguration, describeFunction } from './function-description.ts';
import { functionArn, parseFunctionName } from './function-name.ts';
import { type Answer, errorAnswer, refuseBrowsers, write } from './http-exchange.ts';
import { TooManyRequestsError } from './invocation.ts';
import { invoke } from './invoke-operation.ts';
import { functionNotFound, ServiceError, tooManyRequests } from './service-error.ts';

export interface InvokeEndpointOptions {
  readonly functions: readonly InvokableFunction[];
  readonly log: Log;
  /** Default: any free port. */
  readonly port?: number;
  /** Part of the ARNs. Default us-east-1. */
  readonly region?: string;
  /** For the retries of asynchronous invocations. Default: the system's. */
  readonly clock?: Clock;
}

export interface InvokeEndpoint {
  /** http://127.0.0.1:port, for `--endpoint-url`. */
  readonly url: string;
  /** Ends connections and retries. */
  stop(): Promise<void>;
}

/** Serves Lambda's Invoke API on the loopback interface, so that the AWS CLI and SDKs reach local functions. */
export async function startInvokeEndpoint(options: InvokeEndpointOptions): Promise<InvokeEndpoint> {
  const stopping = new AbortController();
  const context: EndpointContext = {
    functions: new Map(options.functions.map((one) => [one.functionName, one])),
    region: options.region ?? 'us-east-1',
    clock: options.clock ?? systemClock,
    log: options.log,
    signal: stopping.signal,
  };
  const server = createServer((request, response) => {
    const requestId = randomUUID();
    // A client may hang up at any time; the run goes on without it, as on Lambda.
    response.on('error', () => {});
    void answer(request, requestId, context).then((result) => write(response, requestId, result));
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      stopping.abort();
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  request: IncomingMessage,
  requestId: string,
  context: EndpointContext,
): Promise<Answer> {
  try {
    refuseBrowsers(request);
    return await route(request, requestId, context);
  } catch (error) {
    if (error instanceof ServiceError) return errorAnswer(error);
    if (error instanceof TooManyRequestsError) return errorAnswer(tooManyRequests(error.message));
    // A client that hung up in the middle of its request is its own affair.
    const level = request.complete ? 'error' : 'debug';
    context.log[level]('invoke request failed', { requestId, ...describeError(error) });
    const message = error instanceof Error ? error.message : String(error);
    return errorAnswer(new ServiceError(500, 'ServiceException', message));
  }
}

async function route(
  request: IncomingMessage,
  requestId: string,
  context: EndpointContext,
): Promise<Answer> {
  const { method = '', url = '' } = request;
  const path = url.split('?', 1)[0] ?? '';
  const [, name, operation] =
    /^\/2015-03-31\/functions(?:\/([^/]*))?(?:\/([^/]*))?\/?$/.exec(path) ?? [];
  const key = name ? `${method} ${operation ?? ''}`.trim() : method;
  if (!path.startsWith('/2015-03-31/functions')) throw unknownOperation(method, path);
  switch (key) {
    case 'POST invocations':
      return invoke(find(name, context), { request, requestId, context });
    case 'GET':
      return json(name ? describeFunction(find(name, context), context.region) : list(context));
    case 'GET configuration':
      return json(describeConfiguration(find(name, context), context.region));
    default:
      throw unknownOperation(method, path);
  }
}

function find(
  encodedName: string | undefined,
  { functions, region }: EndpointContext,
): InvokableFunction {
  const name = parseFunctionName(decode(encodedName ?? ''));
  const found = functions.get(name);
  if (found) return found;
  throw functionNotFound(functionArn(name, region));
}

/** A name that is not well encoded is then refused as a name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const list = ({ functions, region }: EndpointContext) => ({
  Functions: [...functions.values()].map((one) => describeConfiguration(one, region)),
});

const json = (value: object): Answer => ({ status: 200, body: JSON.stringify(value) });

const unknownOperation = (method: string, path: string): ServiceError =>
  new ServiceError(
    404,
    'UnknownOperationException',
    `no such operation here: ${method} ${path.slice(0, 200)}; this endpoint serves Invoke, GetFunction and ListFunctions`,
  );
