import { randomUUID } from 'node:crypto';
import { functionArn } from '../../../local/lambda/function-name.ts';
import type { LogFields } from '../../../runtime/log.ts';
import { createEnvironmentPool, type FunctionResult } from './environment-pool.ts';
import type { LambdaEnvironmentOptions } from './lambda-environment.ts';
import { createSlots } from './slots.ts';

export interface FunctionHostOptions extends Omit<LambdaEnvironmentOptions, 'handler'> {
  /** File and export in `codeFolder`. Default `index.handler`. */
  readonly handler?: string;
  readonly timeoutSeconds: number;
  /** Default: made from the name and AWS_REGION. */
  readonly arn?: string;
  /** Runs at the same time. Default 10. */
  readonly maxConcurrency?: number;
  /** Time to load the function, which is not part of its timeout. Default 60: the machine may be busy. */
  readonly initSeconds?: number;
  readonly onLog?: (line: LogFields) => void;
}

export interface InvokeOptions {
  /** Default: a new one. */
  readonly requestId?: string;
  /** Beyond the concurrency: stand in line, or throw TooManyRequestsError. Default `wait`. */
  readonly whenBusy?: 'wait' | 'reject';
}

export interface FunctionHost {
  readonly name: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Environments that are starting, running or warm. */
  readonly environments: number;
  /** Resolves with what became of the run, also if that was a crash. Rejects only if there was none. */
  invoke(payload: string, options?: InvokeOptions): Promise<FunctionResult>;
  /** Kills every process in the middle of its run. Resolves with their number when they are gone. */
  kill(): Promise<number>;
  /** Kills everything, refuses what comes later. Resolves when all processes are gone. */
  stop(): Promise<void>;
}

/** Runs a bundle as Lambda would: in processes of its own, started on demand, used again while they are good. */
export function createFunctionHost(options: FunctionHostOptions): FunctionHost {
  const { name, environment, timeoutSeconds, memoryMegabytes } = options;
  const slots = createSlots(name, options.maxConcurrency ?? 10);
  const pool = createEnvironmentPool({
    ...options,
    handler: options.handler ?? 'index.handler',
    arn: options.arn ?? functionArn(name, environment['AWS_REGION'] ?? 'us-east-1'),
    initSeconds: options.initSeconds ?? 60,
    onLog: options.onLog ?? (() => {}),
  });
  return {
    name,
    timeoutSeconds,
    memoryMegabytes,
    get environments() {
      return pool.size;
    },
    invoke: async (payload, { requestId = randomUUID(), whenBusy = 'wait' } = {}) => {
      await slots.take(whenBusy);
      try {
        return await pool.run({ requestId, payload });
      } finally {
        slots.free();
      }
    },
    kill: () => pool.killRunning(),
    stop: async () => {
      slots.close();
      await pool.stop();
    },
  };
}
