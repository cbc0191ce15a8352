import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Operator } from '../runtime/operator.ts';
import type { Charts } from './charts.ts';
import { readCharts } from './context-charts.ts';
import { type ContextKeyName, logRetentionDays } from './context-keys.ts';
import { readNetwork } from './context-network.ts';
import { type ContextProblem, type ContextReader, createContextReader } from './context-reader.ts';
import { likelyMeant } from './context-spelling.ts';
import { limitText } from './context-text.ts';
import { hasGrantOn } from './declared-grants.ts';
import type { NetworkProps } from './network.ts';
import type { Tables } from './tables.ts';

/** What the person who deploys decides. */
export interface Settings {
  readonly clusters: readonly string[];
  /** Those that are deployed. */
  readonly operators: readonly Operator[];
  readonly tables: Tables;
  readonly charts: Charts;
  /** Origins a spec may name as endpoint. */
  readonly endpoints: readonly string[];
  readonly logRetentionDays: RetentionDays;
  /** Default: the functions run outside any VPC. */
  readonly network?: NetworkProps;
  /** Default: alarms tell nobody. */
  readonly alarmTopicArn?: string;
}

export type ParsedContext =
  | { readonly settings: Settings }
  | { readonly problems: readonly ContextProblem[] };

/**
 * @param values the whole context of the app; what is not ours is left alone
 * @param operators all there are
 */
export function parseContext(
  values: Readonly<Record<string, unknown>>,
  operators: readonly Operator[],
): ParsedContext {
  const reader = createContextReader(values);
  const settings = readSettings(reader, operators);
  for (const key of Object.keys(values)) {
    const meant = likelyMeant(key);
    const given = `-c ${key}=${JSON.stringify(values[key])}`;
    if (meant) reader.problem(meant, `was probably meant by ${given}, which does not exist`);
  }
  return reader.problems.length > 0 ? { problems: reader.problems } : { settings };
}

function readSettings(reader: ContextReader, all: readonly Operator[]): Settings {
  const clusters = readClusters(reader);
  const operators = readOperators(reader, all);
  if (operators.some(hasGrantOn('tables'))) requireValue(reader, 'tables');
  const tables = readTables(reader);
  const network = readNetwork(reader);
  const alarmTopicArn = readTopic(reader);
  return {
    clusters,
    operators,
    tables,
    charts: readCharts(reader),
    endpoints: readEndpoints(reader),
    logRetentionDays: readRetention(reader),
    ...(network ? { network } : {}),
    ...(alarmTopicArn === undefined ? {} : { alarmTopicArn }),
  };
}

/** Lambda allows 4 KB of environment, and clusters and endpoints are only a part of it. */
const MAX_CLUSTERS_TEXT = 2000;
const MAX_ENDPOINTS_TEXT = 1000;
/** IAM allows 10,240 characters of policy in a role, and the clusters are in there too. */
const MAX_TABLES_TEXT = 6000;

function readClusters(reader: ContextReader): readonly string[] {
  requireValue(reader, 'clusters');
  const clusters = reader.list('clusters', /^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/);
  limitText(reader, 'clusters', clusters, MAX_CLUSTERS_TEXT);
  return clusters;
}

/** In the order in which they are declared, so that the order of the names changes nothing. */
function readOperators(reader: ContextReader, all: readonly Operator[]): readonly Operator[] {
  if (!reader.has('operators')) return all;
  const known = all.map(({ name }) => name);
  const names = reader.list('operators');
  for (const name of names.filter((one) => !known.includes(one))) {
    reader.problem(
      'operators',
      `has ${JSON.stringify(name)}, which is none of ${known.join(', ')}`,
    );
  }
  return all.filter(({ name }) => names.includes(name));
}

function readTables(reader: ContextReader): Tables {
  const listed = reader.list('tables', /^[a-zA-Z0-9_.*-]{1,255}$/);
  const names = listed.filter((name) => /[a-zA-Z0-9]/.test(name));
  for (const name of listed.filter((one) => !names.includes(one))) {
    const why = 'would stand for all tables of the account, now and later';
    reader.problem(
      'tables',
      `has ${JSON.stringify(name)}, which ${why}: name them, or their beginning`,
    );
  }
  const regions = reader.list('regions', /^[a-z]{2}(?:-[a-z]+)+-[0-9]{1,2}$/);
  const arns = (regions.length > 0 ? regions : ['us-gov-west-1']).flatMap((region) =>
    names.map((name) => `arn:aws-us-gov:dynamodb:${region}:111122223333:table/${name}`),
  );
  limitText(reader, 'tables', arns, MAX_TABLES_TEXT);
  return { names, ...(regions.length > 0 ? { regions } : {}) };
}

function readEndpoints(reader: ContextReader): readonly string[] {
  const listed = reader.list('endpoints');
  const endpoints = listed.filter(isOrigin);
  for (const entry of listed.filter((one) => !endpoints.includes(one))) {
    reader.problem('endpoints', `has ${JSON.stringify(entry)}, which is not an origin`);
  }
  limitText(reader, 'endpoints', endpoints, MAX_ENDPOINTS_TEXT);
  return endpoints;
}

/** Written as the function will compare it: nothing after the host and port, and nothing left to a reader. */
function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:$/.test(url?.protocol ?? '') && url?.origin === text && !text.includes('*');
}

function readRetention(reader: ContextReader): RetentionDays {
  const text = reader.text('logRetentionDays');
  if (text === undefined) return RetentionDays.ONE_MONTH;
  const days = logRetentionDays.find((value) => String(value) === text);
  if (days === undefined)
    reader.problem('logRetentionDays', 'is not a number of days that CloudWatch Logs knows');
  return days ?? RetentionDays.ONE_MONTH;
}

function readTopic(reader: ContextReader): string | undefined {
  const arn = reader.text('alarmTopicArn');
  const pattern = /^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$/;
  if (arn !== undefined && !pattern.test(arn))
    reader.problem('alarmTopicArn', 'is not the ARN of a topic');
  return arn;
}

function requireValue(reader: ContextReader, key: ContextKeyName): void {
  if (!reader.has(key)) reader.problem(key, 'is missing');
}
