/** How long a transfer may stand still before it is given up. */
const stallSeconds = 30;

/**
 * GET that fails unless the answer begins within `seconds`, says 2xx, and never stalls for long
 * after that.
 */
export async function fetchWithin(
  seconds: number,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const patience = new AbortController();
  const giveUp = (after: number, what: string) =>
    setTimeout(() => patience.abort(new Error(`${url} ${what} ${after} s`)), after * 1000);
  let timer = giveUp(seconds, 'did not answer within');
  const signals = signal ? [signal, patience.signal] : [patience.signal];
  try {
    const response = await fetch(url, { signal: AbortSignal.any(signals) });
    clearTimeout(timer);
    if (!response.ok) throw new Error(`${url} answered ${response.status} ${response.statusText}`);
    if (!response.body) return response;
    timer = giveUp(stallSeconds, 'sent nothing for');
    const watched = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          timer.refresh();
          controller.enqueue(chunk);
        },
        flush: () => clearTimeout(timer),
      }),
    );
    timer.unref();
    return new Response(watched, response);
  } catch (error) {
    clearTimeout(timer);
    signal?.throwIfAborted();
    throw unreachable(url, error);
  }
}

/** `fetch failed` alone tells nobody anything: the cause has the host name and the code. */
function unreachable(url: string, error: unknown): Error {
  if (error instanceof TypeError && error.cause instanceof Error) {
    return new Error(`${url}: ${error.cause.message || error.cause.name}`, { cause: error });
  }
  return error instanceof Error ? error : new Error(`${url}: ${String(error)}`);
}
