import type { LogFields } from '../../../../runtime/log.ts';
import type { Identity } from '../front/identities.ts';
import type { Role } from '../iam/roles.ts';
import type { AssumeAsService } from '../provision/functions.ts';
import type { Stack } from '../template/stack.ts';

/** What carriers have in common: services of AWS that move messages as the template says. */
export interface CarrierContext {
  readonly stack: Stack;
  readonly roles: ReadonlyMap<string, Role>;
  readonly assume: AssumeAsService;
  readonly signal: AbortSignal;
  /** What went wrong, which on AWS only a metric or a log would tell. */
  readonly report: (message: string, fields: LogFields) => void;
  /** A pause that AWS makes by itself; passes faster by the time scale. */
  readonly pause: (seconds: number) => Promise<void>;
}

/** A session of the role at this ARN for a service, if the role trusts it. */
export function sessionFor(
  { roles, assume }: Pick<CarrierContext, 'roles' | 'assume'>,
  roleArn: string,
  service: string,
  sourceArn: string,
  sessionName: string,
): Identity {
  const role = roles.get(roleArn);
  if (!role) throw new Error(`template: there is no role ${roleArn}, for ${sourceArn}`);
  return assume(role, service, sourceArn, sessionName);
}

export const QUEUE = 'AWS::SQS::Queue';
