import type { Authorizer } from '../authorizer.ts';
import { HarnessGap } from '../iam/gap.ts';
import { authenticate } from './authenticate.ts';
import { type AwsCall, readCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';
import type { Handle } from './endpoint.ts';
import type { FaultEffect, Faults } from './faults.ts';
import type { Identities, Identity } from './identities.ts';
import { answerInPart } from './partial-failure.ts';
import { deniedError, errorReply, ServiceError } from './replies.ts';
import type { Service } from './service.ts';
import { readSignature } from './signature.ts';

export interface FrontOptions {
  readonly identities: Identities;
  readonly authorizer: Authorizer;
  /** By the name that signatures have: dynamodb, sqs, events, sts, eks. */
  readonly services: Readonly<Record<string, Service>>;
  readonly faults: Faults;
  /** Told what the harness could not do: the test must fail, even if the code under test goes on. */
  readonly onGap: (message: string) => void;
}

/** The one address of AWS: knows who calls, whether they may, and which server does it. */
export function createFront(options: FrontOptions): Handle {
  return async (request, closed) => {
    const signed = readSignature(request);
    if (!signed) {
      const message = 'Request is missing Authentication Token';
      return errorReply(
        { service: '' },
        new ServiceError('MissingAuthenticationTokenException', message, 403),
      );
    }
    try {
      const authentication = authenticate(request, signed, options.identities);
      if (!authentication.ok) {
        const { code, message } = authentication;
        throw new ServiceError(code, message, 403);
      }
      const call = readCall(request, signed, closed);
      if (!call)
        throw new HarnessGap(`the harness does not know ${signed.service} ${request.path}`);
      return await carryOut(call, authentication.identity, options);
    } catch (error) {
      if (error instanceof ServiceError) return errorReply(signed, error);
      const { message } = error as Error;
      options.onGap(message);
      return errorReply(signed, new ServiceError('NotImplemented', message, 501));
    }
  };
}

async function carryOut(
  call: AwsCall,
  identity: Identity,
  { services, authorizer, faults }: FrontOptions,
): Promise<Reply | 'reset' | 'hang'> {
  const service = services[call.service];
  if (!service) throw new HarnessGap(`the harness does not know service ${call.service}`);
  if (identity.caller === 'harness') return service.answer(call, identity);
  for (const access of await service.accesses(call)) {
    if (authorizer.permits(identity, access)) continue;
    const message = `User: ${identity.arn} is not authorized to perform: ${access.action} on resource: ${access.resource}`;
    throw deniedError(call.service, message);
  }
  const answer = (one: AwsCall): Promise<Reply> => service.answer(one, identity);
  const fault = faults.take(call.service, call.operation, authorizer.nameOf(identity));
  return fault ? misbehave(fault, call, answer, faults.random) : answer(call);
}

async function misbehave(
  fault: FaultEffect,
  call: AwsCall,
  answer: (call: AwsCall) => Promise<Reply>,
  random: () => number,
): Promise<Reply | 'reset' | 'hang'> {
  if ('failEntries' in fault) return answerInPart(call, () => random() < fault.failEntries, answer);
  if ('hang' in fault) return 'hang';
  if ('reset' in fault) return 'reset';
  if ('lostReply' in fault) {
    await answer(call);
    return 'reset';
  }
  const { status, code = status < 500 ? 'ThrottlingException' : 'InternalFailure' } = fault;
  throw new ServiceError(code, 'fault of the test', status);
}
