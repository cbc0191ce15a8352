import { environmentCredentials } from './credentials.ts';

export interface ClientSite {
  readonly region: string;
  /** Default: what AWS_ENDPOINT_URL and its like name, else the public endpoint of the region. */
  readonly endpoint?: string | undefined;
  /** Time for the headers of an answer, and again for each silence in its body. Default 3000. */
  readonly requestMilliseconds?: number;
}

const CONNECTION_MILLISECONDS = 1_000;
const REQUEST_MILLISECONDS = 3_000;
const MAX_SOCKETS = 32;

/**
 * What every AWS client of the runtime is made with. All of it is said here, because what the SDK does by itself changes
 * with its versions: how often and when it tries again, and that it waits for ever.
 */
export function clientOptions({ region, endpoint, requestMilliseconds }: ClientSite) {
  const requestTimeout = requestMilliseconds ?? REQUEST_MILLISECONDS;
  // The SDK makes agents of these and keeps their connections: a warm function needs no new TLS handshake.
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  return {
    region,
    ...(endpoint !== undefined && { endpoint }),
    credentials: environmentCredentials,
    defaultsMode: 'standard',
    // One attempt: `attempts.ts` and `batch-delivery.ts` decide alone. They know the clock, the deadline and what of a
    // batch was taken.
    maxAttempts: 1,
    retryMode: 'standard',
    requestHandler: {
      connectionTimeout: CONNECTION_MILLISECONDS,
      requestTimeout,
      // Without it the SDK only prints a warning and waits on.
      throwOnRequestTimeout: true,
      // The request timeout ends with the answer's first byte; this one goes on to its last.
      socketTimeout: requestTimeout,
      httpAgent: agent,
      httpsAgent: agent,
    },
  } as const;
}
