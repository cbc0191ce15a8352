import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../local/control-plane/free-port.ts';
import { isInstalled } from '../../local/installed.ts';
import { environmentCredentials } from '../../runtime/aws/credentials.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createFindAddress } from '../../runtime/kube/eks-address.ts';
import { createEksTransport } from '../../runtime/kube/eks-connection.ts';
import { createKubeClientOver } from '../../runtime/kube/rest-client.ts';
import { isSignedFor, readToken } from './aws-eks-token.ts';
import { reply, type ServiceBehaviour } from './aws-hostile-service.ts';

/** Why no certificate can be made on this machine, or undefined if one can. */
export const certificateMissing = isInstalled('openssl') ? undefined : 'openssl is not installed';

/** For the name of a suite: says, where there is no certificate, that nothing was tested and why. */
export const eksName =
  certificateMissing === undefined
    ? 'an EKS cluster'
    : `an EKS cluster (not tested: ${certificateMissing})`;

export interface Certificate {
  readonly key: string;
  /** PEM; its own authority. */
  readonly cert: string;
}

export function createCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'podless-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  try {
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...name], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface EksApi extends AsyncDisposable {
  readonly server: string;
  /** Tokens of the requests so far. */
  readonly tokens: readonly string[];
}

/** The API server of an EKS cluster: lets in who signed for this cluster with the secret of the test's environment. */
export async function startEksApi(
  cluster: string,
  certificate: Certificate,
  answer: (response: ServerResponse, request: IncomingMessage) => void,
): Promise<EksApi> {
  const tokens: string[] = [];
  const server = https.createServer(certificate, (request, response) => {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    tokens.push(token);
    const secret = process.env['AWS_SECRET_ACCESS_KEY'] ?? '';
    if (isSignedFor(readToken(token), cluster, secret)) answer(response, request);
    else response.writeHead(401).end('{"kind":"Status","reason":"Unauthorized","message":"no"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server: `https://127.0.0.1:${port}`,
    tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What DescribeCluster answers for a cluster that is up. */
export const described = (
  server: string,
  { cert }: Certificate,
  endpointPublicAccess = true,
): ServiceBehaviour =>
  reply({
    cluster: {
      status: 'ACTIVE',
      endpoint: server,
      certificateAuthority: { data: Buffer.from(cert).toString('base64') },
      resourcesVpcConfig: { endpointPublicAccess },
    },
  });

/** A client as the deployed functions have it; only the EKS API is at another place. */
export function eksClientAt(
  eksUrl: string,
  clock: Clock,
  cluster = 'prod',
  timeoutMilliseconds = 3_000,
): KubeClient {
  const region = 'eu-central-1';
  const site = { region, endpoint: eksUrl, requestMilliseconds: 2_000 };
  const findAddress = createFindAddress({ ...site, clock });
  const credentials = environmentCredentials;
  return createKubeClientOver(
    createEksTransport({ cluster, region, clock, credentials, findAddress, timeoutMilliseconds }),
  );
}

/** An address where nobody is. */
export const nobody = async (): Promise<string> => `https://127.0.0.1:${await freePort()}`;

export const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('must fail'),
    (error: Error) => error,
  );
