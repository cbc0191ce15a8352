import type { Stack, StackResource } from '../template/stack.ts';
import { HarnessGap } from './gap.ts';
import { type Policy, parsePolicy } from './policy.ts';

/** A role of the template with everything that is attached to it. */
export interface Role {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly roleId: string;
  readonly trust: Policy;
  readonly policies: readonly Policy[];
  readonly maxSessionSeconds: number;
}

/** Roles by ARN. */
export function rolesOf(stack: Stack): ReadonlyMap<string, Role> {
  const attached = attachedPolicies(stack);
  const managed = new Map(
    stack.ofType('AWS::IAM::ManagedPolicy').map((resource) => [resource.arn, policyOf(resource)]),
  );
  const roles = stack.ofType('AWS::IAM::Role').map((resource): Role => {
    const { logicalId, name, arn, fields, attributes } = resource;
    const inline = fields
      .list('Policies')
      .map((policy) => parsePolicy(policy.raw['PolicyDocument'], `${policy.path}.PolicyDocument`));
    const byArn = fields.has('ManagedPolicyArns') ? fields.texts('ManagedPolicyArns') : [];
    return {
      logicalId,
      name,
      arn,
      roleId: attributes['RoleId'] ?? '',
      trust: parsePolicy(fields.raw['AssumeRolePolicyDocument'], `${logicalId}.trust`),
      policies: [
        ...inline,
        ...byArn.map((policyArn) => known(managed, policyArn, logicalId)),
        ...(attached.get(name) ?? []),
      ],
      maxSessionSeconds: fields.optionalNumber('MaxSessionDuration') ?? 3600,
    };
  });
  return new Map(roles.map((role) => [role.arn, role]));
}

/** Policies that name their roles, by the role's name. */
function attachedPolicies(stack: Stack): ReadonlyMap<string, readonly Policy[]> {
  const resources = [
    ...stack.ofType('AWS::IAM::Policy'),
    ...stack.ofType('AWS::IAM::ManagedPolicy'),
  ];
  const pairs = resources.flatMap((resource) => {
    const names = resource.fields.has('Roles') ? resource.fields.texts('Roles') : [];
    return names.map((role) => ({ role, policy: policyOf(resource) }));
  });
  const byRole = Map.groupBy(pairs, ({ role }) => role);
  return new Map([...byRole].map(([role, list]) => [role, list.map(({ policy }) => policy)]));
}

const policyOf = ({ fields, logicalId }: StackResource): Policy =>
  parsePolicy(fields.raw['PolicyDocument'], `${logicalId}.PolicyDocument`);

function known(managed: ReadonlyMap<string, Policy>, arn: string, logicalId: string): Policy {
  const policy = managed.get(arn);
  // Policies that AWS keeps are wide by nature; the stack has none, and so has the harness.
  if (!policy) throw new HarnessGap(`the harness does not know policy ${arn} of role ${logicalId}`);
  return policy;
}
