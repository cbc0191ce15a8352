import { HarnessGap } from './gap.ts';

/** What a request says about itself; a key that it does not say anything about is not there. */
export type Context = ReadonlyMap<string, readonly string[]>;

type Token = { readonly literal: string } | { readonly wildcard: '*' | '?' };

/**
 * Reads a policy's text: `${*}`, `${?}` and `${$}` are those characters themselves, `${aws:...}` is a value of the
 * request. Undefined if that value is not there, for then nothing matches.
 *
 * @param wildcards false for operators that compare exactly
 */
function tokensOf(
  text: string,
  context: Context,
  wildcards: boolean,
): readonly Token[] | undefined {
  const tokens: Token[] = [];
  for (const part of text.match(/\$\{[^}]*\}|[^$]|\$/gs) ?? []) {
    const variable = part.length > 1 && part.startsWith('${') ? part.slice(2, -1) : undefined;
    if (variable === undefined) {
      const isWildcard = wildcards && (part === '*' || part === '?');
      tokens.push(isWildcard ? { wildcard: part } : { literal: part });
    } else if (['*', '?', '$'].includes(variable)) {
      tokens.push({ literal: variable });
    } else {
      const values = valuesOf(context, variable);
      if (values?.length !== 1) return undefined;
      tokens.push({ literal: values[0] ?? '' });
    }
  }
  return tokens;
}

/** Exactly, but for policy variables. */
export function equalsText(text: string, value: string, context: Context): boolean {
  const tokens = tokensOf(text, context, false);
  return tokens?.map((token) => ('literal' in token ? token.literal : '')).join('') === value;
}

/** With `*` for any characters and `?` for one. */
export function matchesText(text: string, value: string, context: Context): boolean {
  const tokens = tokensOf(text, context, true);
  if (!tokens) return false;
  const source = tokens
    .map((token) => {
      if ('literal' in token) return escapeRegExp(token.literal);
      return token.wildcard === '*' ? '.*' : '.';
    })
    .join('');
  return new RegExp(`^${source}$`, 'su').test(value);
}

const escapeRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** As `matchesText`, but a wildcard stays within its part of the ARN; the last part may hold colons. */
export function matchesArn(text: string, value: string, context: Context): boolean {
  if (text === '*') return true;
  const wanted = partsOf(text);
  const parts = partsOf(value);
  return (
    wanted.length === parts.length &&
    wanted.every((part, index) => matchesText(part, parts[index] ?? '', context))
  );
}

/** A colon inside `${aws:...}` separates nothing. */
function partsOf(arn: string): readonly string[] {
  const parts = arn.split(/:(?![^{}]*\})/);
  return parts.length <= 6 ? parts : [...parts.slice(0, 5), parts.slice(5).join(':')];
}

/** Keys are compared without regard to case. A key the harness never fills must not pass for one that is absent. */
export function valuesOf(context: Context, key: string): readonly string[] | undefined {
  const name = key.toLowerCase();
  if (!knownKeys.has(name)) throw new HarnessGap(`the harness does not know condition key ${key}`);
  return context.get(name);
}

const knownKeys: ReadonlySet<string> = new Set([
  'aws:principalarn',
  'aws:principalaccount',
  'aws:principaltype',
  'aws:username',
  'aws:userid',
  'aws:securetransport',
  'aws:sourcearn',
  'aws:sourceaccount',
  'aws:requestedregion',
  'aws:resourceaccount',
  'dynamodb:leadingkeys',
  'events:source',
  'events:detail-type',
  'sts:rolesessionname',
]);
