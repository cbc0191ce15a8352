import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface DynamoEndpoint {
  readonly region: string;
  /** Default: the public endpoint of the region. */
  readonly endpoint?: string | undefined;
}

const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;
const MAX_SOCKETS = 128;
const MAX_CLIENTS = 16;

/** Kept from run to run: a warm function needs no new TLS handshake. */
const clients = new Map<string, DynamoDBClient>();

export function dynamoClient({ region, endpoint }: DynamoEndpoint): DynamoDBClient {
  const key = `${region} ${endpoint ?? ''}`;
  const client = clients.get(key) ?? createClient(region, endpoint);
  clients.delete(key);
  clients.set(key, client);
  // The one unused for longest goes. It is not destroyed: another job may be in the middle of a call.
  for (const oldest of clients.keys()) if (clients.size > MAX_CLIENTS) clients.delete(oldest);
  return client;
}

function createClient(region: string, endpoint: string | undefined): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return new DynamoDBClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    // `retry.ts` decides, alone: the SDK's own retries know nothing of our deadline and change with its versions.
    maxAttempts: 1,
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
  });
}
