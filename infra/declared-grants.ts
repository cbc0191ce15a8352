import type { IamGrant, Operator } from '../runtime/operator.ts';

type Target = IamGrant['on'];

/** Whether an operator declares rights on that. */
export const hasGrantOn =
  (on: Target) =>
  ({ iam }: Operator): boolean =>
    iam.some((one) => one.on === on);

/** What is to be granted on that. */
export const actionsOn = (grants: readonly IamGrant[], on: Target): readonly string[] =>
  grants.filter((one) => one.on === on).flatMap(({ actions }) => actions);
