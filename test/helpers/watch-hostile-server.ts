import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WatchCall {
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

/** How the server behaves on one call; the last one of a script stays. */
export type Behaviour = (call: WatchCall) => void;

export interface HostileServer extends AsyncDisposable {
  readonly url: string;
  /** Queries of the watches so far. */
  readonly watches: URLSearchParams[];
  /** Queries of the lists so far. */
  readonly lists: URLSearchParams[];
  /** Watch connections that are open now. */
  openWatches(): number;
}

export interface HostileScript {
  readonly lists?: readonly Behaviour[];
  readonly watches: readonly Behaviour[];
}

/** An API server that misbehaves to order, on a real socket. */
export async function startHostileServer(script: HostileScript): Promise<HostileServer> {
  const watches: URLSearchParams[] = [];
  const lists: URLSearchParams[] = [];
  let open = 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const watching = query.has('watch');
    const calls = watching ? watches : lists;
    const behaviours = watching ? script.watches : (script.lists ?? [emptyList]);
    calls.push(query);
    if (watching) {
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
    }
    const behaviour = behaviours[Math.min(calls.length, behaviours.length) - 1];
    behaviour?.({ query, response });
  };
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    watches,
    lists,
    openWatches: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const listOf = (resourceVersion: string, ...items: unknown[]): Behaviour =>
  answerJson(200, { metadata: { resourceVersion }, items });

const emptyList = listOf('100');

/** An error as the API server words it. */
export const refuse = (code: number, headers: Record<string, string> = {}): Behaviour =>
  answerJson(
    code,
    { kind: 'Status', code, reason: 'Refused', message: `answered ${code}` },
    headers,
  );

function answerJson(status: number, body: object, headers: Record<string, string> = {}): Behaviour {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Never answers at all. */
export const hang: Behaviour = () => undefined;

/** Sends the chunks and keeps the connection open in silence. */
export const stream =
  (...chunks: (string | Uint8Array)[]): Behaviour =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const chunk of chunks) response.write(chunk);
  };

const HEARTBEAT_MILLISECONDS = 50;

/** Sends the chunks and stays alive: empty lines in the place of bookmarks. */
export const streamForEver =
  (...chunks: (string | Uint8Array)[]): Behaviour =>
  (call) => {
    stream(...chunks)(call);
    const heartbeat = setInterval(() => call.response.write('\n'), HEARTBEAT_MILLISECONDS);
    call.response.once('close', () => clearInterval(heartbeat));
  };

/** Sends the chunks and ends the answer as HTTP wants it. */
export const streamThenEnd =
  (...chunks: (string | Uint8Array)[]): Behaviour =>
  (call) => {
    stream(...chunks)(call);
    call.response.end();
  };

/** Sends the chunks and cuts the connection in the middle of the answer. */
export const streamThenReset =
  (...chunks: (string | Uint8Array)[]): Behaviour =>
  (call) => {
    stream(...chunks)(call);
    setTimeout(() => call.response.socket?.resetAndDestroy(), 20);
  };

export const event = (type: string, name: string, resourceVersion: string): string =>
  `${JSON.stringify({
    type,
    object: {
      metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion, generation: 1 },
    },
  })}\n`;
