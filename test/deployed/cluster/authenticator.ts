import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Clock, systemClock } from '../../../runtime/clock.ts';
import { describeError, type Log } from '../../../runtime/log.ts';
import {
  type AccessEntry,
  checkAccessEntries,
  type KubernetesUser,
  userOf,
} from './access-entry.ts';
import { callerOf, type Identify } from './caller.ts';
import { TokenRefusedError } from './presigned-request.ts';

export interface AuthenticatorOptions {
  /** Name of the EKS cluster. */
  readonly cluster: string;
  readonly region: string;
  readonly identify: Identify;
  /** Those of this cluster. Asked for each token, as they may come later than the cluster. */
  readonly accessEntries: () => readonly AccessEntry[];
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'now'>;
}

export type Review =
  | { readonly authenticated: true; readonly user: KubernetesUser }
  | { readonly authenticated: false };

/** What EKS does with a bearer token: finds out whose it is, then which access entry lets that role in. */
export function reviewToken(token: string, options: AuthenticatorOptions): Review {
  const { cluster, accessEntries, clock = systemClock } = options;
  const log = options.log.with({ cluster });
  try {
    const entries = accessEntries();
    checkAccessEntries(entries);
    const caller = callerOf(token, { ...options, now: clock.now() });
    const user = userOf(caller, entries);
    if (user !== undefined) return { authenticated: true, user };
    log.error('token refused', { reason: 'role has no access entry', roleArn: caller.roleArn });
  } catch (error) {
    if (error instanceof TokenRefusedError) log.error('token refused', { reason: error.message });
    else log.error('token could not be reviewed', describeError(error));
  }
  return { authenticated: false };
}

export interface Authenticator {
  /** For `--authentication-token-webhook-config-file`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves TokenReview for one cluster, on the loopback interface only. */
export async function startAuthenticator(options: AuthenticatorOptions): Promise<Authenticator> {
  const server = createServer((request, response) => void answer(request, response, options));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/authenticate`,
    stop: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface TokenReview {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly spec?: { readonly token?: unknown };
}

const apiVersion = 'authentication.k8s.io/v1';

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: AuthenticatorOptions,
): Promise<void> {
  const review = (await json(request).catch(() => null)) as TokenReview | null;
  const token = review?.spec?.token;
  const understood = review?.apiVersion === apiVersion && review.kind === 'TokenReview';
  if (!understood || typeof token !== 'string') {
    response.writeHead(400).end(`expected a TokenReview of ${apiVersion} with a token`);
    return;
  }
  const status = reviewToken(token, options);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ apiVersion, kind: 'TokenReview', status }));
}
