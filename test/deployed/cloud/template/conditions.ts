import { evaluate, type References } from './intrinsics.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Whether a condition of the template holds. */
export function holds(conditions: JsonObject, name: string, references: References): boolean {
  const condition = conditions[name];
  if (condition === undefined) throw new Error(`template: condition ${name} does not exist`);
  return judge(condition, references, `Conditions.${name}`);
}

function judge(condition: Json, references: References, path: string): boolean {
  const [key, argument] = isObject(condition) ? (Object.entries(condition)[0] ?? []) : [];
  if (key === 'Condition' && typeof argument === 'string') return references.condition(argument);
  const parts = isList(argument) ? argument : [];
  if (key === 'Fn::Equals') {
    const [left, right] = parts.map((part) => JSON.stringify(evaluate(part, references, path)));
    return left === right;
  }
  if (key === 'Fn::And') return parts.every((part) => judge(part, references, path));
  if (key === 'Fn::Or') return parts.some((part) => judge(part, references, path));
  if (key === 'Fn::Not') return !parts.some((part) => judge(part, references, path));
  throw new Error(`the harness does not know ${key} at ${path}`);
}
