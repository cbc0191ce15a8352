import type { Policy } from '../iam/policy.ts';

/** What the template says about a queue, as far as the front must know it. */
export interface QueueModel {
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  readonly fifo: boolean;
  readonly contentBasedDeduplication: boolean;
  /** Whether two groups may use the same deduplication id. */
  readonly deduplicationScope: 'queue' | 'messageGroup';
  readonly visibilitySeconds: number;
  readonly waitSeconds: number;
  readonly policies: readonly Policy[];
}
