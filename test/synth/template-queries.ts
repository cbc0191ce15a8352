import type { Template, TemplateResource } from './synthesize.ts';

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Principal?: { readonly Service?: string; readonly AWS?: unknown };
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface PolicyDocument {
  readonly Statement: readonly Statement[];
}

export type Properties = Readonly<Record<string, unknown>>;

/** Logical ids and resources of one type. */
export const resourcesOf = (
  { Resources }: Template,
  type: string,
): readonly (readonly [string, TemplateResource])[] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === type);

export const propertiesOf = (template: Template, type: string): readonly Properties[] =>
  resourcesOf(template, type).map(([, { Properties }]) => Properties);

/** The one resource of a type that fits. */
export function theOne(
  template: Template,
  type: string,
  fits: (properties: Properties) => boolean,
): { readonly id: string; readonly properties: Properties } {
  const [found, ...others] = resourcesOf(template, type).filter(([, one]) => fits(one.Properties));
  if (!found || others.length > 0) {
    throw new Error(`one ${type} must fit, got ${found ? 1 + others.length : 0}`);
  }
  return { id: found[0], properties: found[1].Properties };
}

/** Where it is known under that name on AWS, undefined for resources that CloudFormation names. */
export function physicalNameOf({ Properties }: TemplateResource): string | undefined {
  const keys = [
    'FunctionName',
    'QueueName',
    'TableName',
    'LogGroupName',
    'AlarmName',
    'DashboardName',
    'Name',
  ];
  return keys.map((key) => Properties[key]).find((value) => typeof value === 'string');
}

/** The logical id that `Ref` or `Fn::GetAtt` points to. */
export function targetOf(reference: unknown): string | undefined {
  const { Ref, 'Fn::GetAtt': attribute } = reference as {
    readonly Ref?: string;
    readonly 'Fn::GetAtt'?: readonly [string, string];
  };
  return attribute?.[0] ?? Ref;
}

/** What is known only at deploy time in angle brackets. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join } = value as {
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
  };
  return join ? join[1].map(textOf).join(join[0]) : `<${targetOf(value)}>`;
}

export const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** Everything that a role may do: its own policies, and those attached to it. */
export function statementsOf(template: Template, roleId: string): readonly Statement[] {
  const inline = (template.Resources[roleId]?.Properties['Policies'] ?? []) as readonly {
    readonly PolicyDocument: PolicyDocument;
  }[];
  const attached = propertiesOf(template, 'AWS::IAM::Policy').filter(({ Roles }) =>
    (Roles as readonly unknown[]).some((role) => targetOf(role) === roleId),
  );
  return [...inline, ...attached].flatMap(
    (policy) => (policy['PolicyDocument'] as PolicyDocument).Statement,
  );
}

/** Who may assume a role. */
export const trustOf = ({ Properties }: TemplateResource): readonly Statement[] =>
  (Properties['AssumeRolePolicyDocument'] as PolicyDocument).Statement;

/** Who may use a queue. */
export const queueStatementsOf = (template: Template, queueId: string): readonly Statement[] =>
  propertiesOf(template, 'AWS::SQS::QueuePolicy')
    .filter(({ Queues }) => (Queues as readonly unknown[]).some((one) => targetOf(one) === queueId))
    .flatMap(({ PolicyDocument }) => (PolicyDocument as PolicyDocument).Statement);

/** By name of the function: its logical id and properties. */
export const functionsOf = (template: Template): ReadonlyMap<string, Properties> =>
  new Map(
    propertiesOf(template, 'AWS::Lambda::Function').map((properties) => [
      properties['FunctionName'] as string,
      properties,
    ]),
  );

/** Logical id of the role of a function. */
export const roleOf = (template: Template, functionName: string): string =>
  targetOf(functionsOf(template).get(functionName)?.['Role']) ?? '';
