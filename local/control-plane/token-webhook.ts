import { stringify } from 'yaml';
import type { PlaneFolder } from './plane-folder.ts';

/** A server that says whose a token is. */
export interface TokenWebhook {
  readonly url: string;
}

/** The file by which the API server finds the webhook: a kubeconfig that names no user, as it asks without credentials. */
export function writeWebhookConfig(
  folder: PlaneFolder,
  webhook: TokenWebhook | undefined,
): string | undefined {
  if (webhook === undefined) return undefined;
  const name = 'token-webhook';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: webhook.url } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return folder.write('token-webhook.yaml', stringify(config));
}

export function webhookArgs(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  return [
    `--authentication-token-webhook-config-file=${file}`,
    '--authentication-token-webhook-version=v1',
    // A refusal must not outlast its cause. What is accepted, the API server keeps for 10 s in any case.
    '--authentication-token-webhook-cache-ttl=1s',
  ];
}
