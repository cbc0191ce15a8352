import { request } from 'node:https';
import type { ApiAccess } from './users.ts';

export interface ApiResponse {
  readonly status: number;
  readonly body: string;
}

/**
 * One HTTPS request to the API server, its certificate strictly checked. `body` is sent as JSON.
 */
export function apiRequest(
  { server, ca, token }: ApiAccess,
  target: { readonly method?: string; readonly path: string; readonly body?: unknown },
): Promise<ApiResponse> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    ...(target.body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const call = request(
      new URL(target.path, server),
      // No shared connections: they would be left half open by a restart of the server.
      { method: target.method ?? 'GET', ca, headers, agent: false, timeout: 10_000 },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    call.on('timeout', () =>
      call.destroy(new Error(`${server}${target.path} sent nothing for 10 s`)),
    );
    call.on('error', reject);
    call.end(target.body === undefined ? undefined : JSON.stringify(target.body));
  });
}
