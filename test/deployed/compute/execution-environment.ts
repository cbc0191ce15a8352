import type { LambdaError } from '../../../local/lambda/invocation.ts';
import { exited, timedOut } from '../../../local/lambda/sandbox-errors.ts';
import { type FunctionProcess, startFunctionProcess } from './function-process.ts';
import { type LambdaEnvironmentOptions, lambdaEnvironment } from './lambda-environment.ts';
import { peakMegabytes } from './peak-memory.ts';
import { type Answer, type RuntimeApi, startRuntimeApi } from './runtime-api.ts';

export interface EnvironmentOptions extends LambdaEnvironmentOptions {
  readonly arn: string;
  readonly timeoutSeconds: number;
  /** Time to load the function, which is not part of its timeout. */
  readonly initSeconds: number;
  /** A line of output. */
  readonly onLine: (text: string) => void;
}

export interface RunRequest {
  readonly requestId: string;
  /** JSON text. */
  readonly payload: string;
}

/** What became of a run. `error`: the function said so; `timeout`, `crash`: it could say nothing any more. */
export type Verdict =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly kind: FailureKind; readonly error: LambdaError };

export type FailureKind = 'error' | 'timeout' | 'crash';

const MEMORY_CHECK_MILLISECONDS = 100;

export const startExecutionEnvironment = async (
  options: EnvironmentOptions,
): Promise<ExecutionEnvironment> => new ExecutionEnvironment(options, await startRuntimeApi());

/**
 * One process that loads the function, then runs one invocation at a time, frozen between them, and is killed when a
 * run passes the timeout or the memory limit: what Lambda calls an execution environment.
 */
export class ExecutionEnvironment {
  readonly #options: EnvironmentOptions;
  readonly #api: RuntimeApi;
  readonly #process: FunctionProcess;
  /** Resolves when nothing can run here any more. */
  readonly ended: Promise<void>;
  #alive = true;
  /** Resolves when the runtime waits for work, or will never do so again. */
  #idle = Promise.withResolvers<void>();
  /** Of the present run, or of the start. The first one counts. */
  #verdict: Verdict | undefined;

  constructor(options: EnvironmentOptions, api: RuntimeApi) {
    this.#options = options;
    this.#api = api;
    const { codeFolder, memoryMegabytes, onLine } = options;
    const environment = lambdaEnvironment(options, api.address);
    api.serve({
      initFailed: (error) => this.#decide({ ok: false, kind: 'error', error }),
      answered: (answer) => this.#receive(answer),
      idle: () => this.#rest(),
    });
    this.#process = startFunctionProcess({ codeFolder, memoryMegabytes, environment, onLine });
    this.ended = this.#process.ended.then((how) => this.#close(how));
  }

  /** The most memory it has held at once, where the system tells. */
  get peakMegabytes(): number | undefined {
    return peakMegabytes(this.#process.pid);
  }

  /** Resolves with what became of the run, once nothing of it goes on. One run at a time. */
  async run({ requestId, payload }: RunRequest): Promise<Verdict> {
    const { arn, initSeconds, timeoutSeconds } = this.#options;
    const memory = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MILLISECONDS);
    await this.#within(initSeconds, this.#idle.promise);
    if (this.#alive) {
      this.#idle = Promise.withResolvers();
      this.#process.thaw();
      const deadline = Date.now() + timeoutSeconds * 1000;
      this.#api.hand({ requestId, payload, deadline, functionArn: arn });
      await this.#within(timeoutSeconds, this.#idle.promise);
    }
    clearInterval(memory);
    // A retry must not overlap with a run that is being killed.
    if (!this.#alive) await this.ended;
    return this.#takeVerdict(requestId);
  }

  /** Kills the process in the middle of whatever it does. Resolves when it is gone. Safe to repeat. */
  async kill(): Promise<void> {
    this.#end('crash', exited('signal: killed'));
    await this.ended;
  }

  async #within(seconds: number, work: Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.#end('timeout', timedOut(seconds)), seconds * 1000);
    await work;
    clearTimeout(timer);
  }

  #rest(): void {
    if (!this.#alive) return;
    this.#process.freeze();
    this.#idle.resolve();
  }

  #receive(answer: Answer): void {
    // Lambda would not have let it come to an answer.
    this.#checkMemory();
    this.#decide(answer.ok ? answer : { ...answer, kind: 'error' });
  }

  #checkMemory(): void {
    const { memoryMegabytes } = this.#options;
    const peak = this.peakMegabytes ?? 0;
    if (peak <= memoryMegabytes) return;
    const used = `${Math.ceil(peak)} MB of ${memoryMegabytes} MB`;
    const error = { ...exited(`signal: killed (${used})`), errorType: 'Runtime.OutOfMemory' };
    this.#end('crash', error);
  }

  #decide(verdict: Verdict): void {
    this.#verdict ??= verdict;
  }

  #end(kind: FailureKind, error: LambdaError): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#decide({ ok: false, kind, error });
    this.#process.kill();
  }

  #close(how: string): void {
    this.#alive = false;
    this.#decide({ ok: false, kind: 'crash', error: exited(how) });
    this.#api.stop();
    this.#idle.resolve();
  }

  /** Lambda puts the request id before messages of its own, and leaves those of the function alone. */
  #takeVerdict(requestId: string): Verdict {
    const verdict = this.#verdict;
    if (verdict === undefined) throw new Error(`runtime went on without an answer to ${requestId}`);
    this.#verdict = undefined;
    if (verdict.ok || verdict.kind === 'error') return verdict;
    const { errorType, errorMessage } = verdict.error;
    const error = { errorType, errorMessage: `RequestId: ${requestId} ${errorMessage}` };
    return { ...verdict, error };
  }
}
