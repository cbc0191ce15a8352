import { setImmediate } from 'node:timers/promises';
import type { LogFields } from '../../../runtime/log.ts';
import {
  type EnvironmentOptions,
  type ExecutionEnvironment,
  type RunRequest,
  startExecutionEnvironment,
  type Verdict,
} from './execution-environment.ts';
import { parseLogLine } from './log-line.ts';

export interface EnvironmentPoolOptions extends Omit<EnvironmentOptions, 'onLine'> {
  readonly onLog: (line: LogFields) => void;
}

export type FunctionResult = Verdict & {
  readonly requestId: string;
  /** With the time to load the function, if it was not warm. */
  readonly durationMilliseconds: number;
  /** Where the system tells. */
  readonly peakMegabytes: number | undefined;
  /** What this run wrote. */
  readonly log: readonly LogFields[];
};

export interface EnvironmentPool {
  readonly size: number;
  run(request: RunRequest): Promise<FunctionResult>;
  killRunning(): Promise<number>;
  stop(): Promise<void>;
}

interface Place {
  readonly environment: Promise<ExecutionEnvironment>;
  running: boolean;
  log: LogFields[];
}

/** The execution environments of one function. */
export function createEnvironmentPool(options: EnvironmentPoolOptions): EnvironmentPool {
  const places = new Set<Place>();
  let open = true;
  // The one used last is used next, as on Lambda.
  const idle = () => [...places].findLast(({ running }) => !running);
  const kill = async (chosen: readonly Place[]): Promise<number> => {
    await Promise.all(chosen.map(async ({ environment }) => (await environment).kill()));
    return chosen.length;
  };
  return {
    get size() {
      return places.size;
    },
    run: async (request) => {
      if (!open) throw new Error(`function ${options.name} was stopped`);
      const place = idle() ?? startPlace(options, (ended) => places.delete(ended));
      places.delete(place);
      places.add(place);
      return runIn(place, request);
    },
    killRunning: () => kill([...places].filter(({ running }) => running)),
    stop: async () => {
      open = false;
      await kill([...places]);
    },
  };
}

function startPlace(options: EnvironmentPoolOptions, onEnd: (ended: Place) => void): Place {
  const onLine = (text: string) => {
    const line = parseLogLine(text);
    place.log.push(line);
    options.onLog(line);
  };
  const environment = startExecutionEnvironment({ ...options, onLine });
  const place: Place = { environment, running: false, log: [] };
  const gone = environment.then(({ ended }) => ended).catch(() => {});
  void gone.then(() => onEnd(place));
  return place;
}

async function runIn(place: Place, request: RunRequest): Promise<FunctionResult> {
  place.running = true;
  place.log = [];
  const startedAt = Date.now();
  const environment = await place.environment;
  const verdict = await environment.run(request);
  const durationMilliseconds = Date.now() - startedAt;
  const { peakMegabytes } = environment;
  // Output and answers come by different ways; what was written first must be told first.
  await setImmediate();
  place.running = false;
  const { requestId } = request;
  return { ...verdict, requestId, durationMilliseconds, peakMegabytes, log: place.log };
}
