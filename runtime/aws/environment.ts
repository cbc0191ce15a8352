/**
 * Names of the environment variables through which `infra` tells a function where it runs. Plain data, read by both
 * sides, so that a name cannot differ.
 */
export const environmentNames = {
  /** EKS clusters served, separated by commas. The first is meant where a request names none. */
  clusters: 'PODLESS_CLUSTERS',
  /** Name of the event bus. */
  bus: 'PODLESS_BUS',
  /** Name of the DynamoDB table with the watch positions. */
  cursorTable: 'PODLESS_CURSOR_TABLE',
  /** ARN of the role with the operator's scoped grants; assumed for one object at a time. */
  scopedRole: 'PODLESS_SCOPED_ROLE',
  /** Origins that a spec may name as endpoint, separated by commas; `*` for any. Default: none. */
  endpoints: 'PODLESS_ENDPOINTS',
  /** Names of the operators that are deployed, separated by commas. Default: all there are. */
  operators: 'PODLESS_OPERATORS',
  /** Name of the operator, where several share the code of a function. */
  operator: 'PODLESS_OPERATOR',
  /** Path of the helm program. Default: where its Lambda layer has it. */
  helm: 'PODLESS_HELM',
  /** Folder that has `charts/`. Default: the first above the code. */
  charts: 'PODLESS_CHARTS',
  /** S3 buckets with charts: `development=<bucket>,production=<bucket>`. Default: development-helm, production-helm. */
  chartBuckets: 'PODLESS_CHART_BUCKETS',
  /** Namespaces a Collector may use, separated by commas, with * for any characters. Default: `*`. */
  tenantNamespaces: 'PODLESS_TENANT_NAMESPACES',
  /** `debug`, `info` or `error`. Default: info. */
  logLevel: 'PODLESS_LOG_LEVEL',
  /** URL of an operator's inbox. */
  inbox: (operator: string): string => `PODLESS_INBOX_${nameOf(operator)}`,
  /** URL of an operator's work queue. */
  work: (operator: string): string => `PODLESS_WORK_${nameOf(operator)}`,
} as const;

/** Variable names may not hold a dash. */
const nameOf = (operator: string): string => operator.toUpperCase().replaceAll('-', '_');
