import { speaksOf } from './iam/evaluate.ts';
import type { Role } from './iam/roles.ts';

/** One right that someone needed, and whether they had it. */
export interface RecordedCall {
  /** The function's name, the logical id of another role, or the name of a service. */
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
  readonly allowed: boolean;
}

export interface Recording {
  readonly calls: readonly RecordedCall[];
  add(call: RecordedCall): void;
}

export function createRecording(): Recording {
  const calls: RecordedCall[] = [];
  return { calls, add: (call) => void calls.push(call) };
}

/** What roles are called in the record: a function's role by the function, as there is one for each. */
export type RoleLabels = (role: Role) => string;

interface Grant {
  readonly principal: string;
  readonly action: string;
  readonly resource: string;
}

const textOf = ({ principal, action, resource }: Grant): string =>
  `${principal}: ${action} on ${resource}`;

const grantsOf = (roles: readonly Role[], label: RoleLabels): readonly Grant[] =>
  roles.flatMap((role) =>
    role.policies
      .flatMap(({ statements }) => statements)
      .filter(({ effect }) => effect === 'Allow')
      .flatMap(({ actions, resources }) =>
        actions.flatMap((action) =>
          resources.map((resource) => ({ principal: label(role), action, resource })),
        ),
      ),
  );

/** `<principal>: <action> on <resource>` of everything that roles are granted, as the template spells it. */
export const granted = (roles: readonly Role[], label: RoleLabels): ReadonlySet<string> =>
  new Set(grantsOf(roles, label).map(textOf));

/**
 * Those grants that were needed, in the same words; and what a role did without a grant of its own. What services did by
 * a queue's policy is not a matter of roles.
 */
export function used(
  calls: readonly RecordedCall[],
  roles: readonly Role[],
  label: RoleLabels,
): ReadonlySet<string> {
  const grants = Map.groupBy(grantsOf(roles, label), ({ principal }) => principal);
  const names = new Set(roles.map(label));
  const needed = calls
    .filter(({ allowed, principal }) => allowed && names.has(principal))
    .flatMap((call): readonly Grant[] => {
      const matching = (grants.get(call.principal) ?? []).filter((grant) => speaksOf(grant, call));
      return matching.length > 0 ? matching : [call];
    });
  return new Set(needed.map(textOf));
}
