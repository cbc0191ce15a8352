import { asText, type JsonObject } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';
import { createForwarder } from './forward.ts';
import { createInTurn } from './in-turn.ts';
import { ServiceError } from './replies.ts';

/** The server that keeps bus, rules and queues. */
export interface Moto {
  /** Passes a call on, with the input it has. */
  pass(call: AwsCall): Promise<Reply>;
  /** Carries out an operation of the call's service instead of the call itself. Throws ServiceError if moto refuses. */
  perform(call: AwsCall, operation: string, input: JsonObject): Promise<JsonObject>;
  /** Forgets everything. */
  reset(): Promise<void>;
  stop(): void;
}

/**
 * moto is not safe for calls at the same time: two receives may get the same message, and a delete may lose one that is
 * being added. So one at a time; no call waits inside moto, see the queue service.
 */
export function createMoto(url: string): Moto {
  const server = createForwarder(url);
  const inTurn = createInTurn();
  const pass = ({ request, input }: AwsCall): Promise<Reply> =>
    inTurn(() => server.send(request, Buffer.from(JSON.stringify(input))));
  return {
    pass,
    async perform(call, operation, input) {
      const [prefix] = (call.request.headers['x-amz-target'] ?? '').split('.');
      const headers = { ...call.request.headers, 'x-amz-target': `${prefix}.${operation}` };
      const { status, body } = await pass({
        ...call,
        input,
        request: { ...call.request, headers },
      });
      const json = body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as JsonObject);
      if (status < 400) return json;
      throw new ServiceError(asText(json['__type']), asText(json['message']), status);
    },
    async reset() {
      const { status } = await fetch(new URL('/moto-api/reset', url), { method: 'POST' });
      if (status !== 200) throw new Error(`moto at ${url} did not reset: status ${status}`);
    },
    stop: () => server.stop(),
  };
}
