import { fieldsOf } from '../template/fields.ts';
import { isList, isObject, type Json } from '../template/json.ts';
import { HarnessGap } from './gap.ts';

export interface Policy {
  readonly statements: readonly Statement[];
}

export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  /** Without any in a trust policy: it is about its own role. */
  readonly resources: readonly string[];
  /** Only in policies of resources. */
  readonly principals: readonly PolicyPrincipal[];
  readonly conditions: readonly Condition[];
}

export interface PolicyPrincipal {
  readonly type: 'AWS' | 'Service' | '*';
  readonly value: string;
}

/** One operator on one key: true if the request's value matches any of `values`. */
export interface Condition {
  readonly operator: string;
  readonly key: string;
  readonly values: readonly string[];
}

const statementKeys = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition']);

/** @param path for messages */
export function parsePolicy(document: Json | undefined, path: string): Policy {
  const fields = fieldsOf(document, path);
  // Without it there are no policy variables: better to say so than to read `${aws:...}` as text.
  if (fields.optionalText('Version') !== '2012-10-17') {
    throw new HarnessGap(`the harness reads policies of Version 2012-10-17 only: ${path}`);
  }
  const { Statement: statement } = fields.raw;
  const statements = isList(statement) ? statement : [statement];
  return {
    statements: statements.map((one, index) => parseStatement(one, `${path}.Statement[${index}]`)),
  };
}

function parseStatement(json: Json | undefined, path: string): Statement {
  const fields = fieldsOf(json, path);
  for (const key of Object.keys(fields.raw)) {
    if (!statementKeys.has(key))
      throw new HarnessGap(`the harness does not know ${key} at ${path}`);
  }
  const effect = fields.text('Effect');
  if (effect !== 'Allow' && effect !== 'Deny') {
    throw new Error(`policy: ${path}.Effect must be Allow or Deny, got ${effect}`);
  }
  const { Action, Resource, Principal, Condition: conditions } = fields.raw;
  return {
    effect,
    actions: textsOf(Action, `${path}.Action`),
    resources: Resource === undefined ? [] : textsOf(Resource, `${path}.Resource`),
    principals: Principal === undefined ? [] : principalsOf(Principal, `${path}.Principal`),
    conditions: conditions === undefined ? [] : conditionsOf(conditions, `${path}.Condition`),
  };
}

function principalsOf(json: Json, path: string): readonly PolicyPrincipal[] {
  if (json === '*') return [{ type: '*', value: '*' }];
  return Object.entries(fieldsOf(json, path).raw).flatMap(([type, values]) => {
    if (type !== 'AWS' && type !== 'Service') {
      throw new HarnessGap(`the harness does not know principals of type ${type} at ${path}`);
    }
    return textsOf(values, path).map(
      (value): PolicyPrincipal => ({ type: value === '*' ? '*' : type, value }),
    );
  });
}

function conditionsOf(json: Json, path: string): readonly Condition[] {
  return Object.entries(fieldsOf(json, path).raw).flatMap(([operator, keys]) =>
    Object.entries(fieldsOf(keys, `${path}.${operator}`).raw).map(([key, values]) => ({
      operator,
      key,
      values: textsOf(values, `${path}.${operator}.${key}`),
    })),
  );
}

function textsOf(json: Json | undefined, path: string): readonly string[] {
  const values = isList(json) ? json : [json];
  return values.map((value) => {
    if (value === undefined || value === null || isObject(value) || isList(value)) {
      throw new Error(
        `policy: ${path} must be a text or a list of texts, got ${JSON.stringify(json)}`,
      );
    }
    return String(value);
  });
}
