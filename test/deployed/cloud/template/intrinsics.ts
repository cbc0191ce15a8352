import { asText, isList, isObject, type Json, type JsonObject } from './json.ts';

/** Where the values of references come from. Both throw for what does not exist. */
export interface References {
  ref(logicalId: string): Json;
  attribute(logicalId: string, name: string): Json;
  condition(name: string): boolean;
}

/** What `Ref: AWS::NoValue` gives: the property is as if it were not there. */
const noValue = Symbol('AWS::NoValue');

type Value = Json | typeof noValue;
type Evaluate = (argument: Json, references: References, path: string) => Value;

/**
 * A value of a template with all its functions carried out. A function that is not known is an error, never ignored.
 *
 * @param path for messages
 */
export function evaluate(value: Json, references: References, path: string): Json {
  const result = evaluateAny(value, references, path);
  if (result === noValue) throw new Error(`template: ${path} has no value`);
  return result;
}

function evaluateAny(value: Json, references: References, path: string): Value {
  if (isList(value)) {
    return value
      .map((one, index) => evaluateAny(one, references, `${path}[${index}]`))
      .filter((one) => one !== noValue);
  }
  if (!isObject(value)) return value;
  const intrinsic = intrinsicOf(value, path);
  if (intrinsic) return intrinsic.run(value[intrinsic.name] ?? null, references, path);
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const result = evaluateAny(one, references, `${path}.${key}`);
    return result === noValue ? [] : [[key, result] as const];
  });
  return Object.fromEntries(entries);
}

function intrinsicOf(value: JsonObject, path: string) {
  const keys = Object.keys(value);
  const name = keys.find((key) => key === 'Ref' || key.startsWith('Fn::'));
  if (name === undefined) return undefined;
  const run = intrinsics.get(name);
  if (!run || keys.length > 1) throw new Error(`the harness does not know ${name} at ${path}`);
  return { name, run };
}

const intrinsics: ReadonlyMap<string, Evaluate> = new Map<string, Evaluate>([
  ['Ref', (name, { ref }, path) => (name === 'AWS::NoValue' ? noValue : ref(textOf(name, path)))],
  [
    'Fn::GetAtt',
    (argument, references, path) => {
      const [id, ...name] = isList(argument) ? argument : textOf(argument, path).split('.');
      return references.attribute(textOf(id, path), name.map((one) => textOf(one, path)).join('.'));
    },
  ],
  [
    'Fn::Join',
    (argument, references, path) => {
      const [delimiter, parts] = listOf(argument, path);
      const values = listOf(evaluate(parts ?? null, references, path), path);
      return values.map((one) => textOf(one, path)).join(textOf(delimiter, path));
    },
  ],
  [
    'Fn::Split',
    (argument, references, path) => {
      const [delimiter, text] = listOf(argument, path);
      return textOf(evaluate(text ?? null, references, path), path).split(textOf(delimiter, path));
    },
  ],
  [
    'Fn::Select',
    (argument, references, path) => {
      const [index, values] = listOf(argument, path);
      const picked = listOf(evaluate(values ?? null, references, path), path)[Number(index)];
      if (picked === undefined)
        throw new Error(`template: ${path} has no element ${asText(index)}`);
      return picked;
    },
  ],
  [
    'Fn::If',
    (argument, references, path) => {
      const [condition, yes, no] = listOf(argument, path);
      const holds = references.condition(textOf(condition, path));
      return evaluateAny((holds ? yes : no) ?? null, references, path);
    },
  ],
  ['Fn::Sub', substitute],
]);

function substitute(argument: Json, references: References, path: string): string {
  const [template, own] = isList(argument) ? argument : [argument];
  const variables = isObject(own) ? own : {};
  return textOf(template, path).replaceAll(
    /\$\{(!?)([^}]+)\}/g,
    (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      const variable = variables[name];
      if (variable !== undefined) return textOf(evaluate(variable, references, path), path);
      const [id = '', ...rest] = name.split('.');
      const value =
        rest.length === 0 ? references.ref(id) : references.attribute(id, rest.join('.'));
      return textOf(value, path);
    },
  );
}

function textOf(value: Json | undefined, path: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error(`template: ${path} must hold a text, got ${JSON.stringify(value)}`);
}

function listOf(value: Json | undefined, path: string): readonly Json[] {
  if (isList(value)) return value;
  throw new Error(`template: ${path} must hold a list, got ${JSON.stringify(value)}`);
}
