import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { LambdaError } from '../../../local/lambda/invocation.ts';
import { tooLarge } from '../../../local/lambda/sandbox-errors.ts';

export interface Invocation {
  readonly requestId: string;
  /** JSON text. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly functionArn: string;
}

export type Answer =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly error: LambdaError };

export interface RuntimeListener {
  /** The function could not be loaded. */
  initFailed(error: LambdaError): void;
  /** The runtime waits for work: whatever it did before is over. */
  idle(): void;
  /** What became of the invocation that was handed out last. */
  answered(answer: Answer): void;
}

export interface RuntimeApi {
  /** `127.0.0.1:port`, for `AWS_LAMBDA_RUNTIME_API`. */
  readonly address: string;
  /** Says who gets to hear what the runtime says. Once, before there is a runtime. */
  serve(listener: RuntimeListener): void;
  /** Gives work to a runtime that waits for it. */
  hand(invocation: Invocation): void;
  stop(): void;
}

const base = '/2018-06-01/runtime';

/** Lambda's Runtime API (2018-06-01) for one execution environment. */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  let waiting: ServerResponse | undefined;
  const server = createServer();
  // An idle environment waits for as long as it takes.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (listener) =>
      server.on('request', (request, response) => {
        if (request.url === `${base}/invocation/next`) {
          waiting = response;
          listener.idle();
        } else void receive(request, response, listener);
      }),
    hand: ({ requestId, payload, deadline, functionArn }) => {
      if (waiting === undefined) throw new Error(`no runtime waits for ${requestId}`);
      waiting.writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': requestId,
        'lambda-runtime-deadline-ms': deadline,
        'lambda-runtime-invoked-function-arn': functionArn,
      });
      waiting.end(payload);
      waiting = undefined;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  listener: RuntimeListener,
): Promise<void> {
  // A runtime that dies in the middle of a sentence has said nothing.
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  const path = request.url ?? '';
  if (path === `${base}/init/error`) listener.initFailed(JSON.parse(body));
  else if (path.endsWith('/error')) listener.answered({ ok: false, error: JSON.parse(body) });
  else if (path.endsWith('/response')) listener.answered(responseOf(body));
  response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
}

function responseOf(payload: string): Answer {
  const error = tooLarge(payload);
  return error ? { ok: false, error } : { ok: true, payload };
}
