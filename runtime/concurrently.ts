/** Maps side by side, at most `limit` at once, in order. The first failure is thrown once what was begun has ended. */
export async function concurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = Array.from({ length: items.length });
  const queue = items.entries();
  let failure: { readonly error: unknown } | undefined;
  const lane = async (): Promise<void> => {
    // All lanes take from the same iterator.
    for (const [index, item] of queue) {
      if (failure) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, lane));
  if (failure) throw failure.error;
  return results;
}
