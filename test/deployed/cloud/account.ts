import { type Authorizer, createAuthorizer } from './authorizer.ts';
import { createIdentities, type Identities } from './front/identities.ts';
import { type Role, rolesOf } from './iam/roles.ts';
import type { AssumeAsService } from './provision/functions.ts';
import { createRecording, granted, type Recording, type RoleLabels, used } from './recording.ts';
import type { Stack } from './template/stack.ts';

/** Who there is in the account of a stack, and what they may do. */
export interface Account {
  readonly identities: Identities;
  readonly authorizer: Authorizer;
  readonly recording: Recording;
  /** By ARN. */
  readonly roles: ReadonlyMap<string, Role>;
  readonly assume: AssumeAsService;
  /** `<principal>: <action> on <resource>` of all that the template grants its roles. */
  granted(): ReadonlySet<string>;
  /** The same of what they needed. */
  used(): ReadonlySet<string>;
}

export function createAccount(stack: Stack): Account {
  const identities = createIdentities(stack.place.account);
  const recording = createRecording();
  const roles = rolesOf(stack);
  const label = labelsOf(stack);
  const authorizer = createAuthorizer(recording, label);
  return {
    identities,
    authorizer,
    recording,
    roles,
    granted: () => granted([...roles.values()], label),
    used: () => used(recording.calls, [...roles.values()], label),
    assume(role, service, sourceArn, sessionName) {
      const caller = identities.service(service, sourceArn);
      const access = { action: 'sts:AssumeRole', resource: role.arn, trust: role.trust };
      if (authorizer.permits(caller, access)) return identities.session(role, { sessionName });
      throw new Error(`role ${role.logicalId} does not trust ${service} for ${sourceArn}`);
    },
  };
}

/** A function's role is called by the function, where it serves one only. */
function labelsOf(stack: Stack): RoleLabels {
  const functions = Map.groupBy(stack.ofType('AWS::Lambda::Function'), ({ fields }) =>
    fields.text('Role'),
  );
  return ({ arn, logicalId }) => {
    const [only, ...others] = functions.get(arn) ?? [];
    return only && others.length === 0 ? only.name : logicalId;
  };
}
