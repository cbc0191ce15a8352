import type { KubeConnection } from '../kube/transport.ts';

/** A kubeconfig for a program with its own Kubernetes client: the same server and identity, and no command to run. */
export async function kubeconfigOf(connection: KubeConnection): Promise<string> {
  const { server, ca, token, clientCert, clientKey, impersonate, skipTlsVerify } = connection;
  if (impersonate && (impersonate.user === '' || impersonate.groups.length === 0)) {
    // Without both, the request would go out with all the rights of the connection's own user.
    throw new Error('impersonate must name a user and at least one group');
  }
  const cluster = {
    server,
    ...(ca !== undefined && { 'certificate-authority-data': base64(ca) }),
    ...(skipTlsVerify === true && { 'insecure-skip-tls-verify': true }),
  };
  const user = {
    ...(token && { token: await token() }),
    ...(clientCert !== undefined && { 'client-certificate-data': base64(clientCert) }),
    ...(clientKey !== undefined && { 'client-key-data': base64(clientKey) }),
    ...(impersonate && { as: impersonate.user, 'as-groups': impersonate.groups }),
  };
  const name = 'podless';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
