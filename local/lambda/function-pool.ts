import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { LogLine } from '../../runtime/log.ts';
import { createLine } from '../cloud/line.ts';
import { type EnvironmentOptions, ExecutionEnvironment } from './execution-environment.ts';
import { FunctionError, type InvocationResult, TooManyRequestsError } from './invocation.ts';

export interface FunctionPoolOptions extends Omit<EnvironmentOptions, 'onLog' | 'onEnd'> {
  /** Runs at the same time. */
  readonly maxConcurrency: number;
  readonly onLog: (functionName: string, line: LogLine) => void;
  /** How long an environment stays warm without work; one always does. Default 60. */
  readonly idleSeconds?: number;
}

export interface InvokeOptions {
  /** Default: a new one. */
  readonly requestId?: string;
  /** Beyond the concurrency: stand in line, or throw TooManyRequestsError. Default `wait`. */
  readonly whenBusy?: 'wait' | 'reject';
}

/** A function and the execution environments it runs in, like Lambda's service: started on demand, reused, reaped. */
export class FunctionPool {
  readonly #options: FunctionPoolOptions;
  readonly #clock: Clock;
  readonly #environments = new Set<ExecutionEnvironment>();
  /** The one used last is last, and is used next, so that the others can be reaped. */
  readonly #idle: { readonly environment: ExecutionEnvironment; readonly since: number }[] = [];
  readonly #waiting = createLine<PromiseWithResolvers<void>>();
  readonly #stopping = new AbortController();
  #running = 0;
  #reaping = false;

  constructor(options: FunctionPoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    for (const result of ['ok', 'error', 'timeout'] as const) this.#count(result, 0);
  }

  get functionName(): string {
    return this.#options.functionName;
  }

  get timeoutSeconds(): number {
    return this.#options.timeoutSeconds;
  }

  get memoryMegabytes(): number {
    return this.#options.memoryMegabytes;
  }

  /** Environments that are starting, running or warm. */
  get environments(): number {
    return this.#environments.size;
  }

  /** Resolves with what became of the run; rejects only if there was none (too many requests, stopped). */
  async invoke(payload: unknown, options: InvokeOptions = {}): Promise<InvocationResult> {
    const { requestId = randomUUID(), whenBusy = 'wait' } = options;
    await this.#takeSlot(whenBusy);
    try {
      this.#stopping.signal.throwIfAborted();
      const environment = this.#idle.pop()?.environment ?? this.#start();
      const result = await environment.run({
        requestId,
        payload: JSON.stringify(payload) ?? 'null',
      });
      this.#count(result.result, 1);
      this.#keepWarm(environment);
      return result;
    } finally {
      this.#freeSlot();
    }
  }

  /** For callers that want the function's answer, parsed, or an error. */
  async call(payload: unknown, options: InvokeOptions = {}): Promise<unknown> {
    const result = await this.invoke(payload, options);
    if (result.result !== 'ok') throw new FunctionError(this.functionName, result.error);
    return JSON.parse(result.payload);
  }

  /** Kills every run, refuses everything from now on. Resolves when all threads are gone. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`function ${this.functionName} was stopped`));
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      next.reject(this.#stopping.signal.reason);
    }
    await Promise.all([...this.#environments].map((environment) => environment.stop()));
  }

  async #takeSlot(whenBusy: 'wait' | 'reject'): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    if (this.#running < this.#options.maxConcurrency) {
      this.#running += 1;
    } else if (whenBusy === 'reject') {
      throw new TooManyRequestsError(this.functionName, this.#options.maxConcurrency);
    } else {
      const turn = Promise.withResolvers<void>();
      this.#waiting.push(turn);
      await turn.promise;
    }
  }

  /** Hands the slot to who waits longest; nobody who comes later can take it in between. */
  #freeSlot(): void {
    const next = this.#waiting.shift();
    if (next) next.resolve();
    else this.#running -= 1;
  }

  #start(): ExecutionEnvironment {
    const environment: ExecutionEnvironment = new ExecutionEnvironment({
      ...this.#options,
      onLog: (line) => this.#options.onLog(this.functionName, line),
      onEnd: () => this.#forget(environment),
    });
    this.#environments.add(environment);
    return environment;
  }

  #keepWarm(environment: ExecutionEnvironment): void {
    if (!environment.alive) return;
    this.#idle.push({ environment, since: this.#clock.now() });
    if (!this.#reaping) void this.#reap();
  }

  /** It may also have crashed while it was idle. */
  #forget(environment: ExecutionEnvironment): void {
    this.#environments.delete(environment);
    const index = this.#idle.findIndex((idle) => idle.environment === environment);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  /** Runs only while there is more than one environment: a quiet function has no timer. */
  async #reap(): Promise<void> {
    this.#reaping = true;
    const keepMilliseconds = (this.#options.idleSeconds ?? 60) * 1000;
    const { signal } = this.#stopping;
    while (this.#environments.size > 1 && !signal.aborted) {
      const [longest] = this.#idle;
      const now = this.#clock.now();
      const dueAt = (longest?.since ?? now) + keepMilliseconds;
      // Out of the list first: nothing may be started in it while it ends.
      if (longest && dueAt <= now) await this.#idle.shift()?.environment.stop();
      else await this.#clock.sleep(dueAt - now, signal).catch(() => {});
    }
    this.#reaping = false;
  }

  #count(result: InvocationResult['result'], value: number): void {
    const labels = { function: this.functionName, result };
    this.#options.ports.metrics.count('podless_function_invocations_total', labels, value);
  }
}
