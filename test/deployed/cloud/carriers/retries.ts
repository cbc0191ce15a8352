import type { CarrierContext } from './carrier.ts';

const MAX_PAUSE_SECONDS = 60;

/** Tries again what may pass, as often as allowed. Resolves with the last error, or undefined if it went well. */
export async function sendWithRetries(
  send: () => Promise<void>,
  retries: number,
  { signal, pause }: Pick<CarrierContext, 'signal' | 'pause'>,
): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await send();
      return undefined;
    } catch (error) {
      if (attempt >= retries || !mayPass(error) || signal.aborted) return error;
      await pause(Math.min(2 ** attempt, MAX_PAUSE_SECONDS));
    }
  }
}

/** AWS does not repeat what was refused for good: no permission, no such queue, a message that is wrong. */
function mayPass(error: unknown): boolean {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  return status === undefined ? false : status >= 500 || status === 429;
}
