import { HarnessGap } from '../iam/gap.ts';
import { isList, isObject, type Json } from '../template/json.ts';

/** Finds a value in an event; undefined if there is none. */
export type JsonPath = (event: Json) => Json | undefined;

/** Paths of the form `$.a.b[0].c`, which is all that our template needs. */
export function parseJsonPath(text: string): JsonPath {
  if (!/^\$(\.[\w-]+|\[\d+\])*$/.test(text)) {
    throw new HarnessGap(`the harness does not know JSON path ${text}`);
  }
  const steps = [...text.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map(
    ([, name, index]) => name ?? Number(index),
  );
  return (event) => steps.reduce<Json | undefined>(step, event);
}

function step(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof key === 'number') return isList(value) ? value[key] : undefined;
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
