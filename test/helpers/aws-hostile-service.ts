import { createHash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from '../../runtime/untrusted.ts';

export interface ServiceCall {
  /** `PutEvents`; for a service with paths, the path. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
}

/** How the service behaves on one call; the last one of a script stays. */
export type ServiceBehaviour = (response: ServerResponse, call: ServiceCall) => void;

export interface HostileService extends AsyncDisposable {
  readonly url: string;
  /** Calls so far. */
  readonly calls: readonly ServiceCall[];
  /** The most calls that were open at the same time. */
  mostAtOnce(): number;
}

/** An AWS service on a real socket that misbehaves to order. */
export async function startHostileService(
  ...script: readonly ServiceBehaviour[]
): Promise<HostileService> {
  const calls: ServiceCall[] = [];
  let open = 0;
  let most = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    open += 1;
    most = Math.max(most, open);
    response.once('close', () => {
      open -= 1;
    });
    const call = await readCall(request).catch(() => undefined);
    if (call === undefined) return;
    calls.push(call);
    script[Math.min(calls.length, script.length) - 1]?.(response, call);
  };
  const server = http.createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    mostAtOnce: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readCall(request: IncomingMessage): Promise<ServiceCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const body: unknown = text === '' ? {} : JSON.parse(text);
  const target = String(request.headers['x-amz-target'] ?? request.url);
  return {
    operation: target.slice(target.lastIndexOf('.') + 1),
    body: isRecord(body) ? body : {},
    headers: request.headers,
  };
}

export const reply =
  (body: object, status = 200): ServiceBehaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify(body));
  };

export const refuse = (status: number, type: string, message = 'no'): ServiceBehaviour =>
  reply({ __type: type, message }, status);

export const hang: ServiceBehaviour = () => undefined;

export const reset: ServiceBehaviour = (response) => response.socket?.resetAndDestroy();

/** Promises a long answer, sends the start of one and closes. */
export const cutOff: ServiceBehaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1', 'content-length': 999 });
  response.write('{"Entries":[');
  setTimeout(() => response.socket?.destroy(), 20);
};

/** What something between us and the service may say. */
export const webPage: ServiceBehaviour = (response) => {
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
};

interface QueueEntry {
  readonly Id: string;
  readonly MessageBody: string;
}

export const queueEntriesOf = ({ body }: ServiceCall) => body['Entries'] as readonly QueueEntry[];

/** What SQS says of messages it has stored; the SDK checks the digest. */
export const storedEntries = (entries: readonly QueueEntry[]): readonly object[] =>
  entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: Id,
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
  }));

/** As SQS, on a good day. */
export const storeMessages: ServiceBehaviour = (response, call) =>
  reply({ Successful: storedEntries(queueEntriesOf(call)) })(response, call);

/** As EventBridge, on a good day. */
export const takeEvents: ServiceBehaviour = (response, call) => {
  const entries = call.body['Entries'] as readonly object[];
  reply({ FailedEntryCount: 0, Entries: entries.map(() => ({ EventId: 'taken' })) })(
    response,
    call,
  );
};

/** Answers each of these operations only when all of them were called: whoever waits for one before the next gets none. */
export function together(
  behaviours: Readonly<Record<string, ServiceBehaviour>>,
): Readonly<Record<string, ServiceBehaviour>> {
  const missing = new Set(Object.keys(behaviours));
  const { promise: allCalled, resolve } = Promise.withResolvers<void>();
  const wait =
    (operation: string, behave: ServiceBehaviour): ServiceBehaviour =>
    (response, call) => {
      missing.delete(operation);
      if (missing.size === 0) resolve();
      void allCalled.then(() => behave(response, call));
    };
  return Object.fromEntries(
    Object.entries(behaviours).map(([operation, behave]) => [operation, wait(operation, behave)]),
  );
}

/** Behaves by the operation that is called. */
export const byOperation =
  (behaviours: Readonly<Record<string, ServiceBehaviour>>): ServiceBehaviour =>
  (response, call) =>
    (behaviours[call.operation] ?? refuse(400, 'UnknownOperation'))(response, call);
