import { HarnessGap } from '../iam/gap.ts';
import { isList, isObject, type Json, type JsonObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';
import { jsonReply } from './replies.ts';

type Answer = (call: AwsCall) => Promise<Reply>;

/** Carries out a batch without the entries that `fails` picks, and answers as AWS does for a batch that failed in part. */
export async function answerInPart(
  call: AwsCall,
  fails: () => boolean,
  answer: Answer,
): Promise<Reply> {
  const merge = merges[`${call.service}:${call.operation}`];
  const entries = call.input['Entries'];
  if (!merge || !isList(entries)) {
    throw new HarnessGap(`failEntries is not for ${call.service}:${call.operation}`);
  }
  const picked = entries.map((entry) => ({ entry, failed: fails() }));
  const Entries = picked.filter(({ failed }) => !failed).map(({ entry }) => entry);
  const reply =
    Entries.length === 0 ? jsonReply(200, {}) : await answer(withInput(call, { Entries }));
  if (reply.status !== 200) return reply;
  return jsonReply(200, merge(JSON.parse(reply.body.toString('utf8')) as JsonObject, picked));
}

const withInput = (call: AwsCall, input: JsonObject): AwsCall => ({
  ...call,
  input: { ...call.input, ...input },
});

interface Picked {
  readonly entry: Json;
  readonly failed: boolean;
}

type Merge = (output: JsonObject, picked: readonly Picked[]) => JsonObject;

const merges: Readonly<Record<string, Merge>> = {
  // One result an entry, in the order of the entries.
  'events:PutEvents': (output, picked) => {
    const results = isList(output['Entries']) ? [...output['Entries']] : [];
    const Entries = picked.map(({ failed }): Json => {
      if (!failed) return results.shift() ?? null;
      return { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' };
    });
    const refused = picked.filter(({ failed }) => failed).length;
    return { Entries, FailedEntryCount: Number(output['FailedEntryCount'] ?? 0) + refused };
  },
  'sqs:SendMessageBatch': (output, picked) => {
    const refused = picked
      .filter(({ failed }) => failed)
      .map(({ entry }) => ({
        Id: isObject(entry) ? (entry['Id'] ?? '') : '',
        SenderFault: false,
        Code: 'InternalError',
        Message: 'We encountered an internal error',
      }));
    const listOf = (key: string): readonly Json[] => (isList(output[key]) ? output[key] : []);
    return { Successful: listOf('Successful'), Failed: [...listOf('Failed'), ...refused] };
  },
};
