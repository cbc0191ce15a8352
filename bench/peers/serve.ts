import { createInterface } from 'node:readline';
import type { Job, JobResult, Ready } from './job.ts';

export type JobOutcome = Omit<JobResult, 'milliseconds' | 'peakRss'>;

/** The main loop of a peer: one job a line, until the bench closes the pipe or is gone. */
export async function serve(work: (job: Job) => Promise<JobOutcome>): Promise<void> {
  const write = (line: Ready | JobResult) => process.stdout.write(`${JSON.stringify(line)}\n`);
  const lines = createInterface({ input: process.stdin });
  // Also in the middle of a job: nobody waits for it any more.
  lines.once('close', () => process.exit());
  write({ ready: true });
  for await (const line of lines) write(await timed(work, JSON.parse(line) as Job));
}

async function timed(work: (job: Job) => Promise<JobOutcome>, job: Job): Promise<JobResult> {
  const startedAt = performance.now();
  const outcome = await work(job).catch((error: unknown): JobOutcome => ({ failure: text(error) }));
  return {
    milliseconds: performance.now() - startedAt,
    ...outcome,
    peakRss: process.resourceUsage().maxRSS * 1024,
  };
}

const text = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
