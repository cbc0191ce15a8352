import type { Context } from '../iam/pattern.ts';
import type { Policy } from '../iam/policy.ts';
import type { AwsCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';
import type { Identity } from './identities.ts';

/** What a call needs to be allowed. A call may need several: a batch over two tables needs both. */
export interface NeededAccess {
  readonly action: string;
  readonly resource: string;
  /** What this call adds to what is known of its caller. */
  readonly context?: Context;
  readonly resourcePolicies?: readonly Policy[];
  /** The trust policy of a role that is to be assumed. */
  readonly trust?: Policy;
}

/** One service of AWS behind the front. */
export interface Service {
  /** Throws for an operation that the harness does not know. */
  accesses(call: AwsCall): Promise<readonly NeededAccess[]>;
  /** Only called once everything needed was allowed, or by the harness, which may do more than the functions. */
  answer(call: AwsCall, identity: Identity): Promise<Reply>;
}
