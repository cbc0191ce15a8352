import type { Json, JsonObject } from './cloud/template/json.ts';

type Resource = { Type?: Json; Properties?: Record<string, Json> };
type Resources = Record<string, Resource>;

/** Changes a copy of the template's resources, and fails if there was nothing to change. */
export function altered(change: (resources: Resources) => number) {
  return (template: JsonObject): JsonObject => {
    const copy = structuredClone(template);
    const changes = change(copy['Resources'] as unknown as Resources);
    if (changes === 0) throw new Error('the template has nothing of what was to be changed');
    return copy;
  };
}

/** One property of a function, by the function's name. */
export const withProperty = (functionName: string, property: string, value: Json) =>
  altered((resources) => {
    const functions = ofType(resources, 'AWS::Lambda::Function').filter(
      ({ Properties }) => Properties?.['FunctionName'] === functionName,
    );
    for (const { Properties = {} } of functions) Properties[property] = value;
    return functions.length;
  });

/** Without an environment variable, wherever it is. */
export const withoutVariable = (variable: string) =>
  altered((resources) => {
    const environments = ofType(resources, 'AWS::Lambda::Function').map(
      ({ Properties }) =>
        (Properties?.['Environment'] as { Variables?: Record<string, Json> } | undefined)
          ?.Variables ?? {},
    );
    const having = environments.filter((variables) => variable in variables);
    for (const variables of having) delete variables[variable];
    return having.length;
  });

/** Without the resources of a type for which `matches` holds. */
export const withoutResources = (
  type: string,
  matches: (properties: Readonly<Record<string, Json>>) => boolean,
) =>
  altered((resources) => {
    const doomed = Object.entries(resources).filter(
      ([, { Type, Properties = {} }]) => Type === type && matches(Properties),
    );
    for (const [id] of doomed) delete resources[id];
    for (const resource of Object.values(resources))
      dropDependencies(
        resource,
        doomed.map(([id]) => id),
      );
    return doomed.length;
  });

/** Another text for every string of a resource type. */
export const withText = (type: string, from: string, to: string) =>
  altered((resources) => {
    const found = Object.entries(resources).filter(
      ([, resource]) => resource.Type === type && JSON.stringify(resource).includes(from),
    );
    for (const [id, resource] of found) {
      resources[id] = JSON.parse(JSON.stringify(resource).replaceAll(from, to)) as Resource;
    }
    return found.length;
  });

const ofType = (resources: Resources, type: string): readonly Resource[] =>
  Object.values(resources).filter(({ Type }) => Type === type);

function dropDependencies(resource: Resource, ids: readonly string[]): void {
  const { DependsOn } = resource as { DependsOn?: string | string[] };
  if (DependsOn === undefined) return;
  const kept = [DependsOn].flat().filter((id) => !ids.includes(id));
  (resource as { DependsOn?: string[] }).DependsOn = kept;
}
