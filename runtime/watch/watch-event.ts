import { fieldOf, isRecord, textOf } from '../untrusted.ts';
import type { ChangeType } from './forwarding.ts';

export type WatchEvent =
  | { readonly type: ChangeType; readonly object: unknown }
  | { readonly type: 'BOOKMARK'; readonly object: unknown }
  | { readonly type: 'ERROR'; readonly code: number | undefined; readonly message: string };

/** `undefined` if the line is no watch event at all; the object in it is not checked. */
export function parseWatchEvent(text: string): WatchEvent | undefined {
  const event = parseJson(text);
  if (!isRecord(event)) return undefined;
  const { type, object } = event;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type, object };
    case 'ERROR':
      return readStatus(object);
    default:
      return undefined;
  }
}

/** Where a watch may resume after this event: the one place besides a list that a resourceVersion is taken from. */
export const resourceVersionOf = (object: unknown): string | undefined =>
  textOf(fieldOf(object, 'metadata'), 'resourceVersion');

function readStatus(status: unknown): WatchEvent {
  const code = fieldOf(status, 'code');
  const message = textOf(status, 'message') ?? textOf(status, 'reason') ?? 'no message';
  return { type: 'ERROR', code: typeof code === 'number' ? code : codeOf(status), message };
}

/** Some servers and proxies leave the code out. */
function codeOf(status: unknown): number | undefined {
  const reason = textOf(status, 'reason');
  return reason === 'Expired' || reason === 'Gone' ? 410 : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
