import { HarnessGap } from '../iam/gap.ts';
import { asText } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Forwarder } from './forward.ts';
import type { Identity } from './identities.ts';
import { deniedError, ServiceError } from './replies.ts';
import type { NeededAccess, Service } from './service.ts';

export interface S3Options {
  /** Keeps buckets and what is in them. */
  readonly server: Forwarder;
  /** Owns all buckets. */
  readonly account: string;
  /** Decides, and writes the decision down. */
  readonly permits: (identity: Identity, access: NeededAccess) => boolean;
}

/** What each operation asks for. */
const actions: Readonly<Record<string, string>> = {
  GetObject: 's3:GetObject',
  HeadObject: 's3:GetObject',
};

/** Objects are kept by moto; who may see which, and whether one is there at all, is decided here. */
export function createS3Service({ server, account, permits }: S3Options): Service {
  const accessTo = (action: string, path: string): NeededAccess => ({
    action,
    resource: `arn:aws:s3:::${path}`,
    context: new Map([['aws:resourceaccount', [account]]]),
  });
  return {
    async accesses({ operation, input }) {
      const action = actions[operation];
      if (!action) throw new HarnessGap(`the harness does not know s3:${operation}`);
      return [accessTo(action, `${asText(input['Bucket'])}/${asText(input['Key'])}`)];
    },
    async answer(call: AwsCall, identity) {
      const bucket = asText(call.input['Bucket']);
      const reply = await server.send(call.request);
      // Who may not list a bucket is not told what is missing in it.
      if (reply.status === 404 && !permits(identity, accessTo('s3:ListBucket', bucket))) {
        throw deniedError('s3', 'Access Denied');
      }
      if (reply.status >= 500) throw new ServiceError('InternalError', 'moto failed', 500);
      return reply;
    },
  };
}
