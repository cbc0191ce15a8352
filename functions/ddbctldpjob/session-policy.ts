import { leadingKeysOf } from './leading-keys.ts';
import { ddbctldpjob } from './operator.ts';
import type { KeyValue } from './table.ts';

export interface PartitionScope {
  readonly tableArn: string;
  readonly value: KeyValue;
}

const actions = ddbctldpjob.iam.filter(({ scoped }) => scoped).flatMap((grant) => grant.actions);

/** STS takes no longer policy. */
export const MAX_POLICY_CHARACTERS = 2048;

/**
 * The policy of a session that can read and delete in one partition of one table, whatever the role itself may do: a bug
 * of ours, or a table that answers with foreign keys, cannot reach another partition.
 *
 * @param maxCharacters a value too long for it is cut: then the session covers the partitions that begin like it
 */
export function sessionPolicy(
  { tableArn, value }: PartitionScope,
  maxCharacters = MAX_POLICY_CHARACTERS,
): string {
  const keys = leadingKeysOf(value);
  const exact = policyText(tableArn, 'ForAllValues:StringEquals', keys.map(literal));
  if (exact.length <= maxCharacters) return exact;
  const [text = ''] = keys;
  const like = (prefix: string) =>
    policyText(tableArn, 'ForAllValues:StringLike', [`${pattern(prefix)}*`]);
  return like(longestPrefix(text, (prefix) => like(prefix).length <= maxCharacters));
}

function policyText(tableArn: string, operator: string, keys: readonly string[]): string {
  const statement = {
    Effect: 'Allow',
    Action: actions,
    Resource: tableArn,
    Condition: {
      [operator]: { 'dynamodb:LeadingKeys': keys },
      // ForAllValues also holds for a request that names no key at all.
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  };
  return inLatin1(JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
}

/** A value such as `${aws:username}` must stand for itself, not for a policy variable. */
const literal = (text: string): string => text.replace(/\$(?=\{)/g, byVariable);

/** And `*` must not stand for anything. */
const pattern = (text: string): string => text.replace(/[*?]|\$(?=\{)/g, byVariable);

/** IAM has variables for its own special characters. */
const byVariable = (character: string): string => `\${${character}}`;

/** The characters STS takes in a policy; JSON has escapes for the others. */
const inLatin1 = (json: string): string =>
  json.replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function longestPrefix(text: string, fits: (prefix: string) => boolean): string {
  const characters = Array.from(text);
  let length = 0;
  for (let step = characters.length; step > 0; step = Math.floor(step / 2)) {
    const longer = (by: number) => characters.slice(0, length + by).join('');
    while (length + step <= characters.length && fits(longer(step))) length += step;
  }
  return characters.slice(0, length).join('');
}
