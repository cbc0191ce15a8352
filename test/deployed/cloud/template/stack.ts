import { holds } from './conditions.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { evaluate, type References } from './intrinsics.ts';
import { asText, isObject, type Json, type JsonObject } from './json.ts';
import { checkProperties, meaningOf } from './known-properties.ts';
import { type PhysicalResource, type Place, physicalResource } from './physical-resource.ts';
import type { Template, TemplateResource } from './template.ts';

/** A resource with its names known and its properties without functions. */
export interface StackResource extends PhysicalResource {
  readonly logicalId: string;
  readonly arn: string;
  readonly fields: Fields;
}

/** The template as CloudFormation would make it at a place. Names are known before anything is created. */
export interface Stack {
  readonly place: Place;
  ofType(type: string): readonly StackResource[];
  /** By ARN; throws if the stack has no such resource of the type. */
  byArn(type: string, arn: string): StackResource;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Throws for whatever in the template the harness does not understand. */
export function createStack(template: Template, place: Place): Stack {
  const references = createReferences(template, place);
  const resources = [...template.resources.values()].filter(
    ({ type, logicalId, condition }) =>
      meaningOf(type, logicalId) === 'handled' &&
      (condition === undefined || references.condition(condition)),
  );
  const byType = Map.groupBy(
    resources.map((resource) => stackResource(resource, references)),
    ({ type }) => type,
  );
  const ofType = (type: string): readonly StackResource[] => byType.get(type) ?? [];
  return {
    place,
    ofType,
    byArn(type, arn) {
      const found = ofType(type).find((resource) => resource.arn === arn);
      if (!found) throw new Error(`template: there is no ${type} with the ARN ${arn}`);
      return found;
    },
    outputs: Object.fromEntries(
      Object.entries(template.outputs).map(([name, output]) => {
        const path = `Outputs.${name}`;
        return [name, fieldsOf(evaluate(output, references, path), path).text('Value')];
      }),
    ),
  };
}

function stackResource(
  { logicalId, type, properties }: TemplateResource,
  { physical, ...references }: TemplateReferences,
): StackResource & { readonly type: string } {
  const resolved = evaluate(properties, references, logicalId);
  checkProperties(type, logicalId, resolved);
  const { name, ref, attributes } = physical(logicalId) ?? unnamed(logicalId);
  const arn = attributes['Arn'] ?? ref;
  return { logicalId, type, name, ref, attributes, arn, fields: fieldsOf(resolved, logicalId) };
}

const unnamed = (logicalId: string): PhysicalResource => ({
  name: logicalId,
  ref: logicalId,
  attributes: {},
});

interface TemplateReferences extends References {
  physical(logicalId: string): PhysicalResource | undefined;
}

function createReferences(template: Template, place: Place): TemplateReferences {
  const pseudo = pseudoParameters(place);
  const physical = createIdentify(template, place, (value, path) =>
    evaluate(value, references, path),
  );
  const references: TemplateReferences = {
    physical,
    ref(name) {
      const value = pseudo[name] ?? defaultOf(template.parameters[name]) ?? physical(name)?.ref;
      if (value === undefined) throw new Error(`the harness does not know Ref of ${name}`);
      return value;
    },
    attribute(logicalId, name) {
      const value = physical(logicalId)?.attributes[name];
      if (value !== undefined) return value;
      throw new Error(`the harness does not know attribute ${name} of ${logicalId}`);
    },
    condition: (name) => holds(template.conditions, name, references),
  };
  return references;
}

/** Finds out what resources are called, on demand and once: a name may need that of another resource. */
function createIdentify(
  template: Template,
  place: Place,
  resolve: (value: Json, path: string) => Json,
): TemplateReferences['physical'] {
  const known = new Map<string, PhysicalResource | undefined>();
  const underWay = new Set<string>();
  const identify = (logicalId: string): PhysicalResource | undefined => {
    const resource = template.resources.get(logicalId);
    if (!resource) throw new Error(`template: there is no resource ${logicalId}`);
    return physicalResource(resource, place, (name) => {
      const { [name]: given } = resource.properties;
      if (given === undefined) return undefined;
      // Inside an object, since AWS::NoValue takes the property away.
      const { [name]: value } = resolve({ [name]: given }, logicalId) as JsonObject;
      return value === undefined ? undefined : asText(value);
    });
  };
  return (logicalId) => {
    if (known.has(logicalId)) return known.get(logicalId);
    if (underWay.has(logicalId)) throw new Error(`template: the name of ${logicalId} needs itself`);
    underWay.add(logicalId);
    const physical = identify(logicalId);
    known.set(logicalId, physical);
    return physical;
  };
}

const pseudoParameters = ({
  region,
  account,
  stackName,
}: Place): Readonly<Record<string, string>> => ({
  'AWS::Region': region,
  'AWS::AccountId': account,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': stackName,
  'AWS::StackId': `arn:aws:cloudformation:${region}:${account}:stack/${stackName}/harness`,
});

/** Parameters get no value from anyone: their default counts. */
function defaultOf(parameter: Json | undefined): Json | undefined {
  return isObject(parameter) ? parameter['Default'] : undefined;
}
