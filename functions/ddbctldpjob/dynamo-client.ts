import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SessionCredentials } from './partition-session.ts';

export interface DynamoEndpoint {
  readonly region: string;
  /** Default: the public endpoint of the region. */
  readonly endpoint?: string | undefined;
}

/** Rights of its own, cut down to one partition. */
export interface ScopedAccess {
  /** Equal for equal rights. */
  readonly key: string;
  open(): Promise<SessionCredentials>;
}

const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;
const MAX_SOCKETS = 128;
const MAX_CLIENTS = 64;

/** Kept from run to run: a warm function needs no new TLS handshake, and no new session. */
const clients = new Map<string, DynamoDBClient>();

/** @param access default: the function's own credentials */
export function dynamoClient(place: DynamoEndpoint, access?: ScopedAccess): DynamoDBClient {
  const key = [place.region, place.endpoint, access?.key].join(' ');
  const client = clients.get(key) ?? createClient(place, access);
  clients.delete(key);
  clients.set(key, client);
  // The one unused for longest goes. It is not destroyed: another job may be in the middle of a call.
  for (const oldest of clients.keys()) if (clients.size > MAX_CLIENTS) clients.delete(oldest);
  return client;
}

function createClient({ region, endpoint }: DynamoEndpoint, access?: ScopedAccess): DynamoDBClient {
  const client = new DynamoDBClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(access && { credentials: () => access.open() }),
    // `retry.ts` decides, alone: the SDK's own retries know nothing of our deadline and change with its versions.
    maxAttempts: 1,
    requestHandler: sharedHandler(),
  });
  // It copies every request and every answer for a logger that is not there: an eighth of all our work.
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}

let handler: DynamoDBClient['config']['requestHandler'] | undefined;

/** One pool of connections for all clients. */
function sharedHandler(): DynamoDBClient['config']['requestHandler'] {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  handler ??= new DynamoDBClient({
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // Without it the SDK only prints a warning and waits on.
      throwOnRequestTimeout: true,
      // The request timeout ends with the answer's first byte; this one goes on to its last.
      socketTimeout: REQUEST_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  }).config.requestHandler;
  return handler;
}
