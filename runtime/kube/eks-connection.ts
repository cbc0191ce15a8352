import type { CredentialProvider } from '../aws/credentials.ts';
import type { Clock } from '../clock.ts';
import type { ClusterAddress, FindAddress } from './eks-address.ts';
import { explainFailure } from './eks-failure.ts';
import { createEksToken } from './eks-token.ts';
import type { ApiRequest } from './exchange.ts';
import { createTransport, inTime, type KubeConnection, type Transport } from './transport.ts';

export interface EksConnection extends Pick<KubeConnection, 'timeoutMilliseconds'> {
  readonly cluster: string;
  readonly region: string;
  readonly credentials: CredentialProvider;
  readonly findAddress: FindAddress;
  readonly clock: Clock;
}

/** A re-created cluster has another address; but an API server that is merely down must not make us flood the EKS API. */
const FORGET_EVERY_MILLISECONDS = 60_000;
/** The same for a cluster that cannot be found, with a thousand messages waiting for it. */
const FAILURE_MILLISECONDS = 5_000;

/**
 * A transport to an EKS cluster that finds out where it is at the first request, and again if nobody is there any more.
 * Every failure says which cluster it was and what to check, and can be tried again.
 */
export function createEksTransport(connection: EksConnection): Transport {
  const { cluster, findAddress, clock, timeoutMilliseconds } = connection;
  const address = createAddressMemory(() => findAddress(cluster), clock);
  const token = createEksToken(connection);
  const limit = timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds };
  let last: { readonly at: ClusterAddress; readonly transport: Transport } | undefined;

  /** The same address keeps its open connections. */
  const transportTo = (at: ClusterAddress): Transport => {
    if (last?.at.server !== at.server || last.at.ca !== at.ca) {
      const { server, ca } = at;
      last = { at, transport: createTransport({ server, ca, ...token, ...limit }) };
    }
    return last.transport;
  };
  const send = async <T>(
    request: ApiRequest,
    call: (transport: Transport) => Promise<T>,
  ): Promise<T> => {
    const at = await inTime(address.get(), request, request.signal);
    try {
      return await call(transportTo(at));
    } catch (error) {
      if (request.signal?.aborted) throw error;
      const { isLost, explained } = explainFailure(error, cluster, at);
      if (isLost) address.forget();
      throw explained;
    }
  };
  return {
    text: (request) => send(request, (transport) => transport.text(request)),
    open: (request) => send(request, (transport) => transport.open(request)),
  };
}

interface AddressMemory {
  /** Those who ask at the same time share one answer, or one failure. */
  get(): Promise<ClusterAddress>;
  forget(): void;
}

function createAddressMemory(find: () => Promise<ClusterAddress>, clock: Clock): AddressMemory {
  let known: Promise<ClusterAddress> | undefined;
  let goodUntil = Number.POSITIVE_INFINITY;
  let forgottenAt = Number.NEGATIVE_INFINITY;
  return {
    get() {
      if (known === undefined || clock.now() >= goodUntil) {
        goodUntil = Number.POSITIVE_INFINITY;
        const found = find();
        found.catch(() => {
          if (known === found) goodUntil = clock.now() + FAILURE_MILLISECONDS;
        });
        known = found;
      }
      return known;
    },
    forget() {
      if (clock.now() - forgottenAt < FORGET_EVERY_MILLISECONDS) return;
      forgottenAt = clock.now();
      known = undefined;
    },
  };
}
