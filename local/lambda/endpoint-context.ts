import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { DescribedFunction } from './function-description.ts';
import type { InvokeOptions } from './function-pool.ts';
import type { InvocationResult } from './invocation.ts';

/** A `FunctionPool` is one. */
export interface InvokableFunction extends DescribedFunction {
  invoke(payload: unknown, options?: InvokeOptions): Promise<InvocationResult>;
}

/** What an operation of the API gets to work with. */
export interface EndpointContext {
  readonly functions: ReadonlyMap<string, InvokableFunction>;
  readonly region: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}
