import { fieldOf } from '../untrusted.ts';

/** The fields of an event that starts a scheduled function. Fields nobody asks for are ignored. */
export interface ScheduledRequest {
  /** `undefined` if absent; throws for anything but a non-empty text. */
  text(name: string): string | undefined;
  /** `undefined` if absent; throws for anything but a number from 0 up. */
  seconds(name: string): number | undefined;
}

export function readRequest(event: unknown): ScheduledRequest {
  const read = (name: string): unknown => fieldOf(event, name) ?? undefined;
  return {
    text(name) {
      const value = read(name);
      if (value === undefined) return undefined;
      if (typeof value === 'string' && value !== '') return value;
      throw new TypeError(`${name} must be a non-empty string, got ${JSON.stringify(value)}`);
    },
    seconds(name) {
      const value = read(name);
      if (value === undefined) return undefined;
      if (typeof value === 'number' && value >= 0) return value;
      throw new TypeError(
        `${name} must be a number of seconds from 0 up, got ${JSON.stringify(value)}`,
      );
    },
  };
}
