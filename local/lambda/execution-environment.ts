import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import type { LogFields, LogLine } from '../../runtime/log.ts';
import type { InvocationResult, LambdaError } from './invocation.ts';
import { createLogTail, type LogTail } from './log-tail.ts';
import type { FromWorker, MetricCall, PortCall, ToWorker, WorkerSetup } from './protocol.ts';
import { answerCall, type RemotePorts } from './remote-port.ts';
import {
  describeCrash,
  exited,
  stopped,
  timedOut,
  tooLarge,
  withRequestId,
} from './sandbox-errors.ts';

export interface EnvironmentOptions extends WorkerSetup {
  /** The whole of process.env in the function. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Where the function's ports end. */
  readonly ports: RemotePorts;
  readonly onLog: (line: LogLine) => void;
  /** Called once, when nothing more can run here. */
  readonly onEnd: () => void;
  /** Time to load the function, which is not part of its timeout. Default 60. */
  readonly initSeconds?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface RunRequest {
  readonly requestId: string;
  /** JSON text. */
  readonly payload: string;
}

type Outcome =
  | { readonly result: 'ok'; readonly payload: string }
  | { readonly result: 'error' | 'timeout'; readonly error: LambdaError };

interface CurrentRun {
  readonly requestId: string;
  readonly tail: LogTail;
  readonly finish: (outcome: Outcome) => void;
}

const workerUrl = new URL('./worker.ts', import.meta.url);

/**
 * One worker thread that runs one invocation at a time, stays warm between them, and is killed when a run passes the
 * function's timeout: what Lambda calls an execution environment.
 */
export class ExecutionEnvironment {
  readonly #options: EnvironmentOptions;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #loaded = Promise.withResolvers<void>();
  #state: 'alive' | 'ending' | 'ended' = 'alive';
  #crash: string | undefined;
  #end = stopped;
  #run: CurrentRun | undefined;

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#worker = startWorker(options);
    this.#worker.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => {
      this.#crash = describeCrash(error);
      this.#log('function crashed', { error: String(error) });
    });
    this.#worker.on('exit', (code) => {
      if (this.#state === 'alive') this.#close(exited(this.#crash ?? `exit status ${code}`));
    });
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#worker[stream].on('data', (chunk) =>
        this.#log('function wrote', { stream, text: `${chunk}` }),
      );
    }
  }

  /** False once it was killed, has crashed or was stopped. */
  get alive(): boolean {
    return this.#state === 'alive';
  }

  /** Resolves with what became of the run, also if that was a crash. One run at a time. */
  async run(request: RunRequest): Promise<InvocationResult> {
    const { requestId } = request;
    if (this.#run) throw new Error(`environment must finish ${this.#run.requestId} first`);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const tail = createLogTail(requestId);
    this.#run = { requestId, tail, finish: resolve };
    await this.#within(this.#options.initSeconds ?? 60, this.#loaded.promise);
    const startedAt = this.#clock.now();
    if (this.#state === 'ended') resolve(failure(this.#end));
    else this.#invoke(request);
    const outcome = await this.#within(this.#options.timeoutSeconds, promise);
    this.#run = undefined;
    const durationMilliseconds = this.#clock.now() - startedAt;
    const report = { requestId, durationMilliseconds, logTail: tail.text() };
    if (outcome.result === 'ok') return { ...outcome, ...report };
    return { ...outcome, error: withRequestId(outcome.error, requestId), ...report };
  }

  /** Kills what runs. Resolves when the thread is gone. Safe to repeat. */
  async stop(): Promise<void> {
    await this.#kill(stopped);
  }

  #invoke({ requestId, payload }: RunRequest): void {
    const deadline = this.#clock.now() + this.#options.timeoutSeconds * 1000;
    this.#send({ type: 'invoke', requestId, payload, deadline });
  }

  /** Waits for `work`, which a kill always ends. */
  async #within<T>(seconds: number, work: Promise<T>): Promise<T> {
    const timer = new AbortController();
    this.#clock.sleep(seconds * 1000, timer.signal).then(
      () => this.#kill(timedOut(seconds)),
      () => {},
    );
    try {
      return await work;
    } finally {
      timer.abort();
    }
  }

  /** Reports the end only once the thread is gone: a retry must not overlap with a run that is being killed. */
  async #kill(error: LambdaError): Promise<void> {
    if (this.#state === 'alive') this.#state = 'ending';
    await this.#worker.terminate();
    if (this.#state === 'ending') this.#close(error);
  }

  #close(error: LambdaError): void {
    this.#state = 'ended';
    this.#end = error;
    this.#loaded.resolve();
    this.#run?.finish(failure(error));
    this.#options.onEnd();
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        this.#loaded.resolve();
        break;
      case 'initFailed':
        void this.#kill(message.error);
        break;
      case 'answered':
        this.#finish(message.requestId, answer(message.payload));
        break;
      case 'failed':
        this.#finish(message.requestId, failure(message.error));
        break;
      case 'call':
        void this.#answerCall(message.id, message.call);
        break;
      case 'log':
        this.#emit(JSON.parse(message.line) as LogLine);
        break;
      case 'metric':
        this.#count(message.metric);
        break;
    }
  }

  async #answerCall(id: number, call: PortCall): Promise<void> {
    this.#send(await answerCall(this.#options.ports, id, call));
  }

  #finish(requestId: string, outcome: Outcome): void {
    if (this.#run?.requestId === requestId) this.#run.finish(outcome);
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #count({ method, name, labels, value }: MetricCall): void {
    try {
      this.#options.ports.metrics[method](name, labels, value);
    } catch (error) {
      this.#log('metric refused', { metric: name, error: String(error) });
    }
  }

  #log(message: string, fields: LogFields): void {
    const timestamp = new Date(this.#clock.now()).toISOString();
    this.#emit({ level: 'error', message, timestamp, ...fields });
  }

  #emit(line: LogLine): void {
    this.#run?.tail.append(line);
    this.#options.onLog(line);
  }
}

function startWorker(options: EnvironmentOptions): Worker {
  const { functionName, modulePath, clusters, logLevel, environment, memoryMegabytes } = options;
  const setup: WorkerSetup = { functionName, modulePath, clusters, logLevel };
  return new Worker(workerUrl, {
    workerData: setup,
    env: { ...environment },
    // Not those of the process, which may be a test runner's.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes },
  });
}

const failure = (error: LambdaError): Outcome => ({
  result: error.errorType === 'Sandbox.Timedout' ? 'timeout' : 'error',
  error,
});

function answer(payload: string): Outcome {
  const error = tooLarge(payload);
  return error ? failure(error) : { result: 'ok', payload };
}
