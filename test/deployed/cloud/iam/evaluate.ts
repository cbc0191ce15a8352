import { conditionHolds } from './condition.ts';
import { type Context, matchesArn, matchesText } from './pattern.ts';
import type { Policy, PolicyPrincipal, Statement } from './policy.ts';

/** What someone wants to do. */
export interface Access {
  /** `service:Operation`, as IAM spells it. */
  readonly action: string;
  readonly resource: string;
  readonly context: Context;
}

/** Who wants to do it: a role, in a session that may be cut down by policies of its own, or a service of AWS. */
export type Caller =
  | {
      readonly type: 'role';
      readonly arn: string;
      readonly account: string;
      readonly policies: readonly Policy[];
      /** Of the session: it may do only what these allow too. */
      readonly sessionPolicies?: readonly Policy[];
    }
  | { readonly type: 'service'; readonly service: string };

/**
 * IAM's decision within one account: nothing denies it, the session's policies allow it if there are any, and the role's
 * policies or the resource's own allow it.
 */
export function isAllowed(
  caller: Caller,
  access: Access,
  resourcePolicies: readonly Policy[],
): boolean {
  const identity = identityVerdict(caller, access);
  const resource = resourceVerdict(caller, access, resourcePolicies);
  if (identity === 'deny' || resource === 'deny') return false;
  if (caller.type === 'role' && caller.sessionPolicies) {
    if (judge(caller.sessionPolicies, access) !== 'allow') return false;
  }
  return identity === 'allow' || resource === 'direct';
}

/** The same for a role's trust policy, without which nobody gets in, whatever else allows it. */
export function mayAssume(caller: Caller, access: Access, trust: Policy): boolean {
  const resource = resourceVerdict(caller, access, [trust]);
  return resource !== 'nothing' && isAllowed(caller, access, [trust]);
}

const identityVerdict = (caller: Caller, access: Access) =>
  caller.type === 'role' ? judge(caller.policies, access) : 'nothing';

/** `delegated`: the whole account is named, which leaves the decision to the caller's own policies. */
type Reach = 'direct' | 'delegated' | 'nothing';

function resourceVerdict(
  caller: Caller,
  access: Access,
  policies: readonly Policy[],
): Reach | 'deny' {
  const about = policies
    .flatMap(({ statements }) => statements)
    .filter((statement) => applies(statement, access))
    .map(({ effect, principals }) => ({ effect, reach: reachOf(principals, caller) }));
  if (about.some(({ effect, reach }) => effect === 'Deny' && reach !== 'nothing')) return 'deny';
  const reaches = about.filter(({ effect }) => effect === 'Allow').map(({ reach }) => reach);
  return strongest(reaches);
}

function judge(policies: readonly Policy[], access: Access): 'allow' | 'deny' | 'nothing' {
  const effects = policies
    .flatMap(({ statements }) => statements)
    .filter((statement) => applies(statement, access))
    .map(({ effect }) => effect);
  if (effects.includes('Deny')) return 'deny';
  return effects.includes('Allow') ? 'allow' : 'nothing';
}

/** Whether the statement speaks about this action on this resource under these circumstances. */
function applies(
  { actions, resources, conditions }: Statement,
  { action, resource, context }: Access,
): boolean {
  return (
    actions.some((wanted) => matchesAction(wanted, action)) &&
    (resources.length === 0 || resources.some((wanted) => matchesArn(wanted, resource, context))) &&
    conditions.every((condition) => conditionHolds(condition, context))
  );
}

/** Whether a grant of an action on a resource is about this call, whatever its conditions. */
export const speaksOf = (
  grant: Pick<Access, 'action' | 'resource'>,
  { action, resource }: Pick<Access, 'action' | 'resource'>,
): boolean =>
  matchesAction(grant.action, action) && matchesArn(grant.resource, resource, new Map());

/** Without regard to case; an action has no variables. */
const matchesAction = (wanted: string, action: string): boolean =>
  matchesText(wanted.toLowerCase(), action.toLowerCase(), new Map());

const reachOf = (principals: readonly PolicyPrincipal[], caller: Caller): Reach =>
  strongest(principals.map((principal) => reachOfOne(principal, caller)));

function strongest(reaches: readonly Reach[]): Reach {
  if (reaches.includes('direct')) return 'direct';
  return reaches.includes('delegated') ? 'delegated' : 'nothing';
}

function reachOfOne({ type, value }: PolicyPrincipal, caller: Caller): Reach {
  if (type === '*') return 'direct';
  if (type === 'Service') {
    return caller.type === 'service' && caller.service === value ? 'direct' : 'nothing';
  }
  if (caller.type !== 'role') return 'nothing';
  if (value === caller.arn) return 'direct';
  const { account } = caller;
  return value === account || value === `arn:aws:iam::${account}:root` ? 'delegated' : 'nothing';
}
