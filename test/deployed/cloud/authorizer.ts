import type { Identity } from './front/identities.ts';
import type { NeededAccess } from './front/service.ts';
import { isAllowed, mayAssume } from './iam/evaluate.ts';
import type { Recording, RoleLabels } from './recording.ts';

export interface Authorizer {
  /** Decides by the template's policies, and writes the decision down. */
  permits(identity: Identity, access: NeededAccess): boolean;
  /** What an identity is called in the record. */
  nameOf(identity: Identity): string;
}

export function createAuthorizer(recording: Recording, label: RoleLabels): Authorizer {
  const nameOf = ({ role, arn }: Identity): string => (role ? label(role) : arn);
  return {
    nameOf,
    permits(identity, { action, resource, context = new Map(), resourcePolicies = [], trust }) {
      const { caller } = identity;
      if (caller === 'harness') return true;
      const access = { action, resource, context: new Map([...identity.context, ...context]) };
      const allowed = trust
        ? mayAssume(caller, access, trust)
        : isAllowed(caller, access, resourcePolicies);
      recording.add({ principal: nameOf(identity), action, resource, allowed });
      return allowed;
    },
  };
}
