/** `npm run demo`: the main job end to end, then nothing is left running. */
import { ddbctldpjob } from '../functions/ddbctldpjob/operator.ts';
import type { JobStatus } from '../functions/ddbctldpjob/spec.ts';
import { systemClock } from '../runtime/clock.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { bar, type Console, createConsole } from './console.ts';
import { createDemoTable, TABLE, TARGET } from './demo-table.ts';
import { logToConsole } from './log-output.ts';
import { runMain } from './main.ts';
import { readOptions } from './options.ts';
import { startSystem } from './system.ts';

const commandLine = {
  usage: `npm run demo -- [options]

Starts Podless on this machine, fills a DynamoDB table, deletes one partition of it by a custom resource, and proves from
the table that only that partition is empty.`,
  options: {
    items: {
      type: 'number',
      value: '<n>',
      help: 'items in the partition (default 20000)',
      minimum: 0,
      whole: true,
    },
    dynamodb: { type: 'text', value: '<engine>', help: 'dynalite (default) or dynamodb-local' },
    json: { type: 'flag', help: 'the last line of the output is a JSON object with the result' },
  },
} as const;

const job = { kind: ddbctldpjob.kind, namespace: 'default', name: 'demo' };
const POLL_MILLISECONDS = 150;
const number = (value: number): string => value.toLocaleString('en-US');

const manifest = () => ({
  metadata: { name: job.name, namespace: job.namespace },
  spec: { tableName: TABLE, partitionValue: TARGET },
});

interface Following {
  readonly items: number;
  readonly output: Console;
  readonly signal: AbortSignal;
}

/** Shows the progress that the object's status tells, until the job has ended. */
async function follow(kube: KubeClient, { items, output, signal }: Following): Promise<JobStatus> {
  let told = -1;
  for (;;) {
    signal.throwIfAborted();
    const status = ((await kube.get(job, signal))?.status ?? {}) as JobStatus;
    const { phase = 'Pending', deletedItems = 0, message = '' } = status;
    const share = items === 0 ? 1 : deletedItems / items;
    output.status(
      `  ${phase.padEnd(9)} ${bar(share)} ${number(deletedItems)} of ${number(items)} items`,
    );
    if (phase === 'Completed') return status;
    if (phase === 'Failed') throw new Error(`the job failed: ${message}`);
    if (deletedItems !== told)
      output.milestone(`  ${phase} ${number(deletedItems)} of ${number(items)} items`);
    told = deletedItems;
    await systemClock.sleep(POLL_MILLISECONDS, signal);
  }
}

function columns({ phase, target, deletedItems = 0 }: JobStatus, seconds: number): string {
  const rows = [
    ['NAME', 'PHASE', 'TABLE', 'DELETED', 'AGE'],
    [
      job.name,
      phase ?? '',
      target?.tableName ?? '',
      String(deletedItems),
      `${Math.round(seconds)}s`,
    ],
  ];
  const line = (row: readonly string[]) =>
    row
      .map((cell) => cell.padEnd(14))
      .join('')
      .trimEnd();
  return `\n${rows.map(line).join('\n')}\n`;
}

interface Findings {
  readonly items: number;
  readonly left: number;
  readonly neighbours: number;
  readonly neighboursLeft: number;
  readonly seconds: number;
}

/** What the table says, whatever the status says. */
function conclude(found: Findings, status: JobStatus, output: Console): void {
  const { items, left, neighbours, neighboursLeft, seconds } = found;
  output.line(
    `The table: ${number(left)} of ${number(items)} items left in the partition, ${number(neighboursLeft)} of ${number(neighbours)} in its neighbours.`,
  );
  const holds = left === 0 && neighboursLeft === neighbours && status.deletedItems === items;
  output.line(
    holds
      ? `Done in ${seconds.toFixed(1)} s.`
      : `This is wrong: the status says ${status.deletedItems} items were deleted.`,
  );
  if (!holds) process.exitCode = 1;
}

await runMain(async (args, signal) => {
  const options = readOptions(commandLine, args);
  if (!options) return;
  const output = createConsole(process.stdout);
  const items = Number(options['items'] ?? 20_000);
  const neighbours = Math.ceil(items / 4);
  const dynamodb = String(options['dynamodb'] ?? 'dynalite');
  output.line(
    'Podless demo: delete one DynamoDB partition by kubectl apply, without an operator pod',
  );
  const system = await startSystem({
    dynamodb,
    report: output.progress,
    // The demo shows the job's progress, not every reconcile; but never hides what went wrong.
    onLog: (source, line) => {
      if (line.level === 'error') logToConsole(output, source, line);
    },
    signal,
  });
  const table = createDemoTable({ endpoint: system.dynamodb, items, neighbours, signal });
  try {
    output.line(
      `  Kubernetes API at ${system.cluster.server}, DynamoDB (${dynamodb}) at ${system.dynamodb}`,
    );
    await table.fill((written) =>
      output.status(`  filling ${bar(written / (items + neighbours))}`),
    );
    output.line(
      `  table ${TABLE}: ${number(items)} items in partition "${TARGET}", ${number(neighbours)} in its neighbours`,
    );
    const started = systemClock.now();
    await system.admin.create(job.kind, job.namespace, manifest());
    output.line(`  applied DdbctlDpJob ${job.namespace}/${job.name}`);
    const status = await follow(system.admin, { items, output, signal });
    const seconds = (systemClock.now() - started) / 1000;
    output.line(columns(status, seconds));
    const left = await table.countTarget();
    const neighboursLeft = await table.countNeighbours();
    const result = {
      items,
      deleted: items - left,
      left,
      neighbours,
      neighboursLeft,
      seconds: Number(seconds.toFixed(2)),
      phase: status.phase,
    };
    conclude(result, status, output);
    if (options['json'] === true) process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    table.close();
    await system.stop();
  }
});
