import { environmentNames } from '../../runtime/aws/environment.ts';
import type { Environment } from '../../runtime/aws/environment-reader.ts';

/** What whoever runs the operator has decided, and no spec can change. */
export interface Settings {
  /** Where the charts are. */
  readonly buckets: ChartBuckets;
  /** Whether releases may be installed there. */
  mayUse(namespace: string): boolean;
}

export interface ChartBuckets {
  readonly development: string;
  readonly production: string;
}

const DEFAULT_BUCKETS: ChartBuckets = {
  development: 'development-helm',
  production: 'production-helm',
};

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const NAMESPACE_PATTERN = /^[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?$/;

/** Throws, while the function starts, if a variable makes no sense. */
export const readSettings = (environment: Environment): Settings => ({
  buckets: readBuckets(environment[environmentNames.chartBuckets]),
  mayUse: namespaceRule(environment[environmentNames.tenantNamespaces]),
});

function readBuckets(text = ''): ChartBuckets {
  const given = listOf(text).map((item) => {
    const [key = '', name = '', ...rest] = item.split('=');
    if (!Object.hasOwn(DEFAULT_BUCKETS, key) || rest.length > 0 || !BUCKET_NAME.test(name)) {
      throw unexpected(
        environmentNames.chartBuckets,
        'development=<bucket>,production=<bucket>',
        text,
      );
    }
    return [key, name] as const;
  });
  return { ...DEFAULT_BUCKETS, ...Object.fromEntries(given) };
}

/**
 * Namespaces of the cluster itself are never a tenant's. Neither is `default`, unless it is named as such: that a pattern happens
 * to match it is no decision.
 */
function namespaceRule(text = '*'): (namespace: string) => boolean {
  const patterns = listOf(text);
  if (patterns.some((pattern) => !NAMESPACE_PATTERN.test(pattern))) {
    throw unexpected(
      environmentNames.tenantNamespaces,
      'names of namespaces, with * for any characters, separated by commas',
      text,
    );
  }
  const matching = patterns.map(
    (pattern) => new RegExp(`^${pattern.replaceAll(/\*+/g, '[a-z0-9-]*')}$`),
  );
  return (namespace) => {
    if (namespace.startsWith('kube-')) return false;
    if (namespace === 'default') return patterns.includes('default');
    return matching.some((pattern) => pattern.test(namespace));
  };
}

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const unexpected = (name: string, expected: string, got: string): Error =>
  new Error(`environment variable ${name} must be ${expected}, got ${JSON.stringify(got)}`);
