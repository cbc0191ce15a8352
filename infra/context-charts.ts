import type { Charts } from './charts.ts';
import type { ContextKeyName } from './context-keys.ts';
import type { ContextReader } from './context-reader.ts';
import { limitText } from './context-text.ts';

/** As old manifests expect them. */
const DEFAULT_DEVELOPMENT_BUCKET = 'development-helm';
const DEFAULT_PRODUCTION_BUCKET = 'production-helm';
/** Lambda allows 4 KB of environment, and the clusters are in there too. */
const MAX_NAMESPACES_TEXT = 1000;

export function readCharts(reader: ContextReader): Charts {
  const tenantNamespaces = readNamespaces(reader);
  const bucketAccount = reader.text('chartBucketAccount');
  if (bucketAccount !== undefined && !/^[0-9]{12}$/.test(bucketAccount))
    reader.problem('chartBucketAccount', 'is not the number of an account');
  return {
    developmentBucket: readBucket(reader, 'developmentBucket', DEFAULT_DEVELOPMENT_BUCKET),
    productionBucket: readBucket(reader, 'productionBucket', DEFAULT_PRODUCTION_BUCKET),
    ...(bucketAccount !== undefined && { bucketAccount }),
    ...(tenantNamespaces && { tenantNamespaces }),
  };
}

function readBucket(reader: ContextReader, key: ContextKeyName, fallback: string): string {
  const name = reader.text(key) ?? fallback;
  const isName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) && !/\.\.|^[0-9.]+$/.test(name);
  if (!isName) reader.problem(key, 'is not the name of a bucket');
  return name;
}

function readNamespaces(reader: ContextReader): readonly string[] | undefined {
  if (!reader.has('tenantNamespaces')) return undefined;
  const names = reader.list('tenantNamespaces', /^[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?$/);
  for (const name of names.filter((one) => one.startsWith('kube-'))) {
    const why = 'belongs to Kubernetes: a Collector is never let into it';
    reader.problem('tenantNamespaces', `has ${JSON.stringify(name)}, which ${why}`);
  }
  limitText(reader, 'tenantNamespaces', names, MAX_NAMESPACES_TEXT);
  return names;
}
