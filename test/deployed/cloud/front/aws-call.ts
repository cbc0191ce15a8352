import { isObject, type Json, type JsonObject } from '../template/json.ts';
import type { AwsRequest } from './aws-request.ts';
import type { Signed } from './signature.ts';

/** What a request asks for. */
export interface AwsCall {
  readonly service: string;
  readonly operation: string;
  readonly region: string;
  readonly input: JsonObject;
  readonly request: AwsRequest;
  /** Aborts when nobody waits for the answer any more. */
  readonly closed: AbortSignal;
}

/** Undefined if the harness cannot tell the operation. */
export function readCall(
  request: AwsRequest,
  { service, region }: Signed,
  closed: AbortSignal,
): AwsCall | undefined {
  const named = operationOf(request, service);
  return named && { service, region, request, closed, ...named };
}

type Named = Pick<AwsCall, 'operation' | 'input'>;

function operationOf(request: AwsRequest, service: string): Named | undefined {
  const target = request.headers['x-amz-target'];
  if (target !== undefined) {
    return { operation: target.replace(/^.*\./, ''), input: parseBody(request.body) };
  }
  if (service === 'sts') return fromForm(request);
  const cluster = /^\/clusters\/([^/]+)$/.exec(request.path)?.[1];
  if (service === 'eks' && request.method === 'GET' && cluster !== undefined) {
    return { operation: 'DescribeCluster', input: { name: decodeURIComponent(cluster) } };
  }
  return undefined;
}

/** The query protocol: parameters in the body. */
function fromForm({ body }: AwsRequest): Named | undefined {
  const form = new URLSearchParams(body.toString('utf8'));
  const operation = form.get('Action');
  return operation === null ? undefined : { operation, input: Object.fromEntries(form) };
}

function parseBody(body: Buffer): JsonObject {
  const json = JSON.parse(body.toString('utf8')) as Json;
  return isObject(json) ? json : {};
}
