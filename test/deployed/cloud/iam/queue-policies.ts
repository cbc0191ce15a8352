import type { Stack } from '../template/stack.ts';
import { type Policy, parsePolicy } from './policy.ts';

/** Policies of queues, by the queue's ARN. */
export function queuePoliciesOf(stack: Stack): ReadonlyMap<string, Policy> {
  const arns = new Map(stack.ofType('AWS::SQS::Queue').map(({ ref, arn }) => [ref, arn]));
  const policies = new Map<string, Policy>();
  for (const { fields, logicalId } of stack.ofType('AWS::SQS::QueuePolicy')) {
    const policy = parsePolicy(fields.raw['PolicyDocument'], `${logicalId}.PolicyDocument`);
    for (const url of fields.texts('Queues')) {
      const arn = arns.get(url);
      if (arn === undefined)
        throw new Error(`template: ${logicalId} is about an unknown queue ${url}`);
      // A queue has one policy: the second resource would replace what the first has set.
      if (policies.has(arn))
        throw new Error(`template: ${logicalId} is the second policy of ${arn}`);
      policies.set(arn, policy);
    }
  }
  return policies;
}
