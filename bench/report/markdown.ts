import type { ResultTable } from '../part.ts';
import { competitors, podless, raw } from '../peers/list.ts';
import type { Results } from '../results.ts';
import { describeMachine, type Machine } from './machine.ts';
import { figureTable } from './text.ts';

/** The page docs/benchmarks.md. */
export function toMarkdown(results: Results): string {
  const { date, full, machine, seconds, parts } = results;
  const minutes = Math.round(seconds / 60);
  return `${[
    '# Benchmarks',
    `Written by \`npm run bench -- ${full ? '--full ' : ''}--write\` on ${date}, in ${minutes} minutes, on ${describeMachine(machine)}. Client, proxy and server share the cores: read ratios and shares, not seconds.`,
    '![Items a second of each peer, and the use of a cap that moves](benchmarks.svg)',
    '## Figures',
    table(figureTable(results)),
    VERDICTS,
    START_UP,
    '## Who',
    PEERS,
    versions(machine),
    '## How',
    METHOD,
    '## Tables',
    ...parts.flatMap(({ tables }) => tables).map(section),
  ].join('\n\n')}\n`;
}

const PEERS = [podless, raw, ...competitors]
  .map(({ name, about }) => `- **${name}**: ${about}`)
  .join('\n');

const versions = ({ packages }: Machine): string =>
  `Versions: ${Object.entries(packages)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')}.`;

const VERDICTS = `*got* is the median of the rounds, *spread* their ends. *within noise*: the median misses the goal, but a round reached it. A goal that no round
reached is MISSED, and the bench ends with exit code 1.`;

const START_UP = `At import no network call is made. The first reconcile asks for its cluster and for its table at the same time
([ADR 17](adr/0017-a-hint-may-carry-a-preview.md)).`;

const METHOD = `- All peers work on the same server (Amazon's DynamoDB Local, in memory, warmed up), each on a fresh table with the same items, and through the same proxy
  ([bench/proxy](../bench/proxy)), which adds latency, throttles, makes faults and counts. Rounds are interleaved: A, B, C, A, B, C.
- Each peer is a process of its own. Its time runs from its first request to its end; starting it and loading its modules are not in it, and a small run
  before warms it up.
- After each run the table itself says what is left, and whether a neighbour partition lost an item.
- The cap is a bucket of write units, full at first, that fills at the cap's rate and holds one second of it. A delete costs its item's size in KB, rounded
  up; of what is not there, one. An item passes as long as there is something in the bucket, and may leave it in debt, because how large a deleted item is
  is known only once it is found. What does not pass comes back as UnprocessedItems; if nothing of a batch passes, as a
  ProvisionedThroughputExceededException with its reason, as from DynamoDB. What a batch consumed is answered by the proxy too, so DynamoDB Local is not asked: it would take a
  quarter longer for a batch of ours, which asks, than for one of the raw writer, which does not.
- *Share used* is units deleted / (units in the bucket at first + what the cap amounts to from the first delete to the last).

Repeat it: \`npm run bench\` (ten to twelve minutes), \`npm run bench -- --full\` (with 1,000,000 items), \`npm run bench -- capped moving\` (some parts),
\`npm run bench -- --help\`. It needs Java 17; dynamodb-toolbox and electrodb come by npm into \`bench/\`, boto3 by pip into the user's cache.`;

const section = (one: ResultTable): string =>
  [`### ${one.title}`, table(one), ...(one.note === undefined ? [] : [one.note])].join('\n\n');

const table = ({ columns, rows }: ResultTable): string =>
  [columns, columns.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
