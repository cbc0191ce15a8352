import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConsole } from '../local/console.ts';
import { startDynamoDbLocal } from '../local/dynamodb/dynamodb-local.ts';
import { runMain } from '../local/main.ts';
import { openBench, warmUp } from './bench.ts';
import { type BenchCommand, readCommand } from './options.ts';
import type { PartResult } from './part.ts';
import { startUp } from './parts/start-up.ts';
import { figureCells } from './report/format.ts';
import { thisMachine } from './report/machine.ts';
import { toMarkdown } from './report/markdown.ts';
import { toSvg } from './report/plot.ts';
import { figureTable, partText, tableText } from './report/text.ts';
import { missedIn, type Results, toJson } from './results.ts';
import { fullSizes, quickSizes } from './sizes.ts';

const docs = join(import.meta.dirname, '..', 'docs');
const console = createConsole(process.stderr);

await runMain(async (args, signal) => {
  const command = readCommand(args);
  if (!command) return;
  const startedAt = performance.now();
  const parts = await measureAll(command, signal);
  const results: Results = {
    date: new Date().toISOString().slice(0, 10),
    full: command.full,
    machine: await thisMachine(),
    seconds: Math.round((performance.now() - startedAt) / 1000),
    parts,
  };
  show(results, command);
  const missed = missedIn(results);
  for (const figure of missed) {
    const [wanted, got] = figureCells(figure);
    console.line(`missed: ${figure.name}: ${got}, must be ${wanted}`);
  }
  process.exitCode = missed.length > 0 ? 1 : 0;
});

async function measureAll(
  { parts, full, json }: BenchCommand,
  signal: AbortSignal,
): Promise<Results['parts']> {
  const startServer = () => startDynamoDbLocal({ report: console.progress, signal });
  const bench = openBench({ startServer, sizes: full ? fullSizes : quickSizes, console, signal });
  try {
    if (parts.some((part) => part !== startUp)) await warmUp(bench);
    const results: (PartResult & { name: string })[] = [];
    for (const part of parts) {
      console.line(`${part.name}: ${part.about}`);
      const result = await part.run(bench);
      results.push({ name: part.name, ...result });
      if (!json) process.stdout.write(`${partText(result)}\n`);
    }
    return results;
  } finally {
    await bench.close();
  }
}

function show(results: Results, { json, write }: BenchCommand): void {
  if (json) process.stdout.write(`${JSON.stringify(toJson(results), null, 2)}\n`);
  else process.stdout.write(`${tableText(figureTable(results))}\n`);
  if (!write) return;
  writeFileSync(join(docs, 'benchmarks.svg'), toSvg(results));
  writeFileSync(join(docs, 'benchmarks.md'), toMarkdown(results));
  console.line('written: docs/benchmarks.md, docs/benchmarks.svg');
}
