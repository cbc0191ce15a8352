import type { SqsEvent } from '../../../runtime/sqs-batch.ts';
import type { Invoke, InvokeResult } from './carriers/lambda.ts';

export interface ScriptedRun {
  readonly functionName: string;
  readonly payload: unknown;
}

/** What a run ends with: an answer to pass on as JSON, or a failure. */
export type Script = (run: ScriptedRun) => Promise<unknown>;

/** Functions without code: they keep what they were given, and do as the script says. */
export interface ScriptedFunctions {
  readonly invoke: Invoke;
  runsOf(functionName: string): readonly unknown[];
  /** From now on. A script that throws is a function that fails. */
  script(next: Script): void;
}

export function createScriptedFunctions(): ScriptedFunctions {
  const runs: ScriptedRun[] = [];
  let current: Script = async () => null;
  return {
    async invoke(functionName, payload): Promise<InvokeResult> {
      const run = { functionName, payload: JSON.parse(payload) as unknown };
      runs.push(run);
      try {
        return { ok: true, payload: JSON.stringify(await current(run)) };
      } catch (cause) {
        const errorMessage = (cause as Error).message;
        return { ok: false, kind: 'error', error: { errorType: 'Error', errorMessage } };
      }
    },
    runsOf: (wanted) =>
      runs.filter(({ functionName }) => functionName === wanted).map(({ payload }) => payload),
    script: (next) => {
      current = next;
    },
  };
}

/** The records that a function got from its queue, over all its runs. */
export const recordsOf = (runs: readonly unknown[]): SqsEvent['Records'] =>
  (runs as readonly Partial<SqsEvent>[]).flatMap(({ Records = [] }) => Records);
