import { isObject, type Json, type JsonObject } from './json.ts';

/** A CloudFormation template, checked in shape only. */
export interface Template {
  readonly resources: ReadonlyMap<string, TemplateResource>;
  readonly parameters: JsonObject;
  readonly conditions: JsonObject;
  readonly mappings: JsonObject;
  readonly outputs: JsonObject;
}

export interface TemplateResource {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: JsonObject;
  /** Name of the condition without which the resource is not made. */
  readonly condition?: string;
}

const sections = new Set([
  'Resources',
  'Parameters',
  'Conditions',
  'Mappings',
  'Outputs',
  'Description',
  'Metadata',
  'AWSTemplateFormatVersion',
  // The bootstrap version is checked by CloudFormation at deploy time.
  'Rules',
]);

const resourceKeys = new Set([
  'Type',
  'Properties',
  'Condition',
  'DependsOn',
  'Metadata',
  'DeletionPolicy',
  'UpdateReplacePolicy',
]);

export function parseTemplate(json: Json): Template {
  if (!isObject(json)) throw new Error('template must be a JSON object');
  for (const section of Object.keys(json)) {
    if (!sections.has(section)) throw new Error(`the harness does not know section ${section}`);
  }
  const resources = Object.entries(objectAt(json, 'Resources')).map(
    ([logicalId, value]) => [logicalId, parseResource(logicalId, value)] as const,
  );
  return {
    resources: new Map(resources),
    parameters: objectAt(json, 'Parameters'),
    conditions: objectAt(json, 'Conditions'),
    mappings: objectAt(json, 'Mappings'),
    outputs: objectAt(json, 'Outputs'),
  };
}

function parseResource(logicalId: string, value: Json): TemplateResource {
  if (!isObject(value)) throw new Error(`template: ${logicalId} must be an object`);
  for (const key of Object.keys(value)) {
    if (!resourceKeys.has(key)) {
      throw new Error(`the harness does not know attribute ${key} of resource ${logicalId}`);
    }
  }
  const { Type: type, Condition: condition } = value;
  if (typeof type !== 'string') throw new Error(`template: ${logicalId} has no Type`);
  const properties = objectAt(value, 'Properties');
  return { logicalId, type, properties, ...(typeof condition === 'string' && { condition }) };
}

function objectAt(json: JsonObject, key: string): JsonObject {
  const value = json[key] ?? {};
  if (!isObject(value)) throw new Error(`template: ${key} must be an object`);
  return value;
}
