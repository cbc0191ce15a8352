/**
 * An error with a meaning for the user: `reason` becomes the reason of the Ready condition (CamelCase), the
 * message its message. Anything else that is thrown is a bug. See `outcome.ts` for what each one leads to.
 */
export abstract class OperatorError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.reason = reason;
  }
}

/** Trying again cannot help until the spec changes: bad input, refused work. */
export class TerminalError extends OperatorError {}

/** The world is not ready (missing table, throttling, denied): shown to the user and tried again slowly. */
export class TransientError extends OperatorError {}
