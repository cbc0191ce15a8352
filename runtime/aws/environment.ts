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
  /** `debug`, `info` or `error`. Default: info. */
  logLevel: 'PODLESS_LOG_LEVEL',
  /** URL of an operator's inbox. */
  inbox: (operator: string): string => `PODLESS_INBOX_${nameOf(operator)}`,
  /** URL of an operator's work queue. */
  work: (operator: string): string => `PODLESS_WORK_${nameOf(operator)}`,
} as const;

/** Variable names may not hold a dash. */
const nameOf = (operator: string): string => operator.toUpperCase().replaceAll('-', '_');
