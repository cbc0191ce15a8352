import type { ControlPlane } from '../../local/control-plane/index.ts';
import { until } from './until.ts';

/** Runs of a function that were ended at their deadline, as /metrics tells. */
export async function killedRuns(http: string, operator: string): Promise<number> {
  const metrics = await (await fetch(`${http}/metrics`)).text();
  const series = `podless_function_invocations_total{function="podless-${operator}",result="timeout"} `;
  const line = metrics.split('\n').find((one) => one.startsWith(series));
  return Number(line?.slice(series.length) ?? 0);
}

/** Stops the API server in the middle of whatever it does until a run of the function was killed for it. */
export async function freezeUntilKilled(
  { apiServerPid }: Pick<ControlPlane, 'apiServerPid'>,
  http: string,
  operator: string,
): Promise<void> {
  process.kill(apiServerPid, 'SIGSTOP');
  try {
    const before = await killedRuns(http, operator);
    await until(async () => ((await killedRuns(http, operator)) > before ? true : undefined), {
      seconds: 60,
      what: async () => 'a run to be killed',
    });
  } finally {
    process.kill(apiServerPid, 'SIGCONT');
  }
}
