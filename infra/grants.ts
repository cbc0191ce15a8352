import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';

export interface Grant {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Under which it holds. Default: always. */
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface WildcardGrant extends Grant {
  /** Why nothing narrower will do. It also answers cdk-nag, which asks for each wildcard. */
  readonly reason: string;
}

/** Gives a role rights on resources that are named exactly. */
export function grant(role: Role, rights: Grant): void {
  const [wildcard] = wildcardsIn(role, rights);
  if (wildcard)
    throw new Error(`resource must have no * where no reason is given, got ${wildcard}`);
  addRights(role, rights);
}

/** The only way to a `*` in a resource. */
export function grantWildcard(role: Role, { reason, ...rights }: WildcardGrant): void {
  addRights(role, rights);
  for (const wildcard of wildcardsIn(role, rights)) {
    Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${wildcard}]`, reason });
  }
}

function addRights(role: Role, { actions, resources, conditions = {} }: Grant): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: [...actions], resources: [...resources], conditions }),
  );
}

const wildcardsIn = (role: Role, { resources }: Grant): readonly string[] =>
  resources
    .map((resource) => readable(Stack.of(role).resolve(resource)))
    .filter((text) => text.includes('*'));

/** A resource as cdk-nag spells it: what is known only at deploy time in angle brackets. */
function readable(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const { Ref: name, 'Fn::Join': join } = resource as Reference;
  return join ? join[1].map(readable).join(join[0]) : `<${name}>`;
}

interface Reference {
  readonly Ref?: string;
  readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
}
