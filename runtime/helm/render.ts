import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { TerminalError, TransientError } from '../errors.ts';
import { apiVersionOf } from '../operator.ts';
import { textOf } from '../untrusted.ts';
import type { Helm, HelmAnswer, HelmCall } from './helm-command.ts';
import { type ManifestBody, type ReleaseObject, readManifest } from './manifest.ts';
import { marked } from './marks.ts';
import type { WantedRelease } from './release.ts';
import { errorOf, type SafeMessage } from './safe-message.ts';
import { sealed } from './sealed-chart.ts';

/** What `helm list` shows of a chart. */
export interface ChartMetadata {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
}

export interface Rendered {
  readonly metadata: ChartMetadata;
  /** Checked, and marked as ours. Hooks among them. */
  readonly objects: readonly ReleaseObject[];
}

export interface RenderProps extends Pick<HelmCall, 'limitMilliseconds' | 'signal'> {
  readonly helm: Helm;
  /** Of the cluster. */
  readonly kubeVersion: string;
  readonly isUpgrade: boolean;
  readonly safe: SafeMessage;
}

export const VALUES_FILE = 'values.json';

/**
 * Renders a chart without a cluster: its templates cannot look at what is there, which may be others' Secrets. CRDs that it
 * brings are objects like any other, to be allowed or refused.
 */
export async function render(wanted: WantedRelease, props: RenderProps): Promise<Rendered> {
  const { name, namespace, chart, values, allowed, owner } = wanted;
  const apis = allowed.map((kind) => `${apiVersionOf(kind)},${apiVersionOf(kind)}/${kind.kind}`);
  const folder = typeof chart.folder === 'string' ? chart.folder : await chart.folder();
  const metadata = await readChartMetadata(folder);
  const answer = await props.helm({
    args: [
      ...['template', name, folder, '--namespace', namespace, '--values', VALUES_FILE],
      ...['--kube-version', props.kubeVersion, '--api-versions', apis.join(',')],
      ...['--skip-tests', '--include-crds', ...(props.isUpgrade ? ['--is-upgrade'] : [])],
    ],
    files: new Map([[VALUES_FILE, JSON.stringify(values)]]),
    limitMilliseconds: props.limitMilliseconds,
    ...(props.signal && { signal: props.signal }),
  });
  if (answer.ended !== 'ok') throw renderError(answer, props);
  const objects = readManifest(answer.stdout, { namespace, allowed });
  return { metadata, objects: objects.map((object) => asStored(marked(object, owner))) };
}

/** As it will come back from Helm's record, so that the digests of both are the same. */
const asStored = ({ ref, body }: ReleaseObject): ReleaseObject => ({
  ref,
  body: JSON.parse(sealed(body)) as ManifestBody,
});

async function readChartMetadata(folder: string): Promise<ChartMetadata> {
  const text = await readFile(join(folder, 'Chart.yaml'), 'utf8').catch(() => '');
  const parsed = parsedOrNothing(text);
  const [name, version] = [textOf(parsed, 'name'), textOf(parsed, 'version')];
  if (name === undefined || version === undefined) {
    throw new TerminalError('RenderFailed', 'Chart.yaml of the chart must have name and version');
  }
  const appVersion = textOf(parsed, 'appVersion');
  return { name, version, ...(appVersion !== undefined && { appVersion }) };
}

function parsedOrNothing(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function renderError(
  { ended, stderr, code }: HelmAnswer,
  { safe, limitMilliseconds }: RenderProps,
): Error {
  if (ended === 'limit') {
    const seconds = Math.round(limitMilliseconds / 100) / 10;
    return new TransientError('RenderFailed', `the chart did not render within ${seconds} s`);
  }
  if (/out of memory|cannot allocate memory/.test(stderr)) {
    return new TerminalError('RenderFailed', 'the chart takes too much memory to render');
  }
  const message = errorOf(stderr);
  // Ended from outside: the machine's memory, most likely, and not only ours.
  if (message === '') return new TransientError('RenderFailed', `helm ended with code ${code}`);
  const schema = message.startsWith("values don't meet the specifications of the schema");
  if (!schema) return new TerminalError('RenderFailed', safe(message));
  const [, ...lines] = message.split('\n');
  return new TerminalError('InvalidValues', safe(`values do not fit: ${schemaProblems(lines)}`));
}

/** Sorted: Helm tells the same problems in another order each time, and the same status would be written again and again. */
function schemaProblems(lines: readonly string[]): string {
  let chart = '';
  const problems: string[] = [];
  for (const line of lines.map((one) => one.trim())) {
    if (line.startsWith('- ')) problems.push(`${chart} ${line.slice(2)}`);
    else chart = line;
  }
  return problems.length > 0 ? problems.toSorted().join('; ') : lines.join(' ');
}
