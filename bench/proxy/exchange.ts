import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { WriteRequest } from './meter.ts';
import { type Reply, serverError, throttled, written } from './replies.ts';
import type { ProxyRun } from './run.ts';

/** Where calls go in the end. */
export interface Target {
  readonly url: URL;
  readonly agent: Agent;
}

interface BatchWrite {
  readonly RequestItems: Readonly<Record<string, readonly WriteRequest[]>>;
  readonly ReturnConsumedCapacity?: string;
}

/** Takes one call from a peer, adds what the run's settings say, and passes it on. */
export async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  run: ProxyRun,
  target: Target,
): Promise<void> {
  const operation = operationOf(incoming);
  run.beginCall(operation);
  response.once('close', () => run.endCall(operation));
  const body = await bytesFrom(incoming);
  if (run.latencyMs > 0) await delay(run.latencyMs);
  const { fault, carriedOut } = run.chance.next();
  if (!carriedOut) return fail(fault, incoming, response);
  if (operation !== 'BatchWriteItem') {
    const sent = operation === 'Query' ? withLimit(body, run.pageLimit) : body;
    const reply = await forward(incoming, sent, target);
    if (fault === undefined) return pass(reply, response);
    reply.resume();
    return fail(fault, incoming, response);
  }
  const reply = await write(incoming, body, run, target);
  if (fault !== undefined) return fail(fault, incoming, response);
  return 'body' in reply ? answer(response, reply) : pass(reply, response);
}

/** A batch, or as much of it as the capacity allows. */
async function write(
  incoming: IncomingMessage,
  body: Buffer,
  run: ProxyRun,
  target: Target,
): Promise<Reply | IncomingMessage> {
  const batch = JSON.parse(body.toString('utf8')) as BatchWrite;
  const [tableName = '', requests = []] = Object.entries(batch.RequestItems)[0] ?? [];
  const { accepted, refused, units } = run.meter.admit(requests, run.chance.keep);
  if (refused.length > 0) run.countRefusal(accepted.length > 0 ? 'partlyRefused' : 'refused');
  if (accepted.length === 0) return throttled(tableName);
  const isWhole = refused.length === 0 && batch.ReturnConsumedCapacity === undefined;
  const rest = isWhole ? body : toForward(tableName, accepted);
  const reply = await forward(incoming, rest, target);
  if (reply.statusCode !== 200) return reply;
  reply.resume();
  const capacity = batch.ReturnConsumedCapacity;
  return written({ tableName, unprocessed: refused, units, capacity });
}

/**
 * Without a word on capacity: that question is answered here, and DynamoDB Local takes a quarter longer for a batch that
 * asks it.
 */
const toForward = (tableName: string, kept: readonly WriteRequest[]): Buffer =>
  Buffer.from(JSON.stringify({ RequestItems: { [tableName]: kept } }));

/**
 * The same page, sooner: without a limit DynamoDB Local reads all the rest of the partition, seconds of it where there are
 * 1,000,000 items, before it answers with the first 1 MB.
 */
function withLimit(body: Buffer, most: number): Buffer {
  const query = JSON.parse(body.toString('utf8')) as { readonly Limit?: number };
  return Buffer.from(JSON.stringify({ ...query, Limit: Math.min(query.Limit ?? most, most) }));
}

function forward(
  { method, url = '/', headers }: IncomingMessage,
  body: Buffer,
  { url: base, agent }: Target,
): Promise<IncomingMessage> {
  const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...kept } = headers;
  return new Promise((resolve, reject) => {
    request(
      new URL(url, base),
      { method, agent, headers: { ...kept, 'content-length': body.length } },
      resolve,
    )
      .once('error', reject)
      .end(body);
  });
}

/** Without a look at what is in it: a page of keys is most of the bytes there are. */
function pass(reply: IncomingMessage, response: ServerResponse): void {
  const { connection: _, 'keep-alive': __, ...headers } = reply.headers;
  response.writeHead(reply.statusCode ?? 502, headers);
  reply.pipe(response);
}

function answer(response: ServerResponse, { status, body }: Reply): void {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'content-length': bytes.length };
  response.writeHead(status, headers).end(bytes);
}

function fail(
  fault: string | undefined,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  if (fault === 'serverError') answer(response, serverError);
  else if (fault === 'reset') incoming.socket.destroy();
}

/** `Query` of the header `X-Amz-Target: DynamoDB_20120810.Query`. */
const operationOf = ({ headers }: IncomingMessage): string =>
  String(headers['x-amz-target']).replace(/^.*\./, '');

async function bytesFrom(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
