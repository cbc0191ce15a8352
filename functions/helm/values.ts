import { TerminalError } from '../../runtime/errors.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import type { Watch } from './watch.ts';

/** The values of an object's release: its spec, where the overrides of its watch win. */
export function valuesOf(spec: unknown, { overrideValues = {} }: Watch): object {
  if (spec !== undefined && !isRecord(spec))
    throw new TerminalError('InvalidSpec', 'spec must be an object, the values of the chart');
  return Object.entries(overrideValues).reduce<Values>(
    (values, [path, value]) => withValue(values, path.split('.'), value),
    spec ?? {},
  );
}

type Values = Readonly<Record<string, unknown>>;

/** What is in the way of a path (a text, a list) gives way. */
function withValue(values: Values, [key = '', ...rest]: readonly string[], value: unknown): Values {
  const inner = Object.hasOwn(values, key) ? values[key] : undefined;
  const next = rest.length === 0 ? value : withValue(isRecord(inner) ? inner : {}, rest, value);
  return Object.fromEntries([...Object.entries(values), [key, next]]);
}
