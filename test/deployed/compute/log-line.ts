import type { LogFields } from '../../../runtime/log.ts';

/** A line that a function wrote: the fields of its JSON object, or the text as message. */
export function parseLogLine(text: string): LogFields {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as LogFields;
  } catch {
    // Text, then.
  }
  return { message: text };
}
