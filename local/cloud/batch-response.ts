/**
 * Which messages of a batch failed, by the function's answer (`ReportBatchItemFailures`). As on Lambda: null, {} and
 * an empty list mean that all went well; an answer that cannot be read means that all failed.
 *
 * @throws if the answer cannot be read
 */
export function failedMessageIds(answer: unknown, sent: ReadonlySet<string>): ReadonlySet<string> {
  if (answer === null) return new Set();
  if (!isRecord(answer)) throw malformed('an object or null', answer);
  const failures = answer.batchItemFailures ?? [];
  if (!Array.isArray(failures)) throw malformed('a list batchItemFailures', failures);
  return new Set(failures.map((failure: unknown) => identifierOf(failure, sent)));
}

function identifierOf(failure: unknown, sent: ReadonlySet<string>): string {
  const id = isRecord(failure) ? failure.itemIdentifier : undefined;
  if (typeof id !== 'string' || !sent.has(id)) {
    throw malformed('itemIdentifier with the messageId of a record of the batch', failure);
  }
  return id;
}

function malformed(expected: string, got: unknown): Error {
  const shown = JSON.stringify(got)?.slice(0, 200);
  return new Error(`answer of the function must have ${expected}, got ${shown}`);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
