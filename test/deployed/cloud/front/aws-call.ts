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
  if (service === 's3') return fromPath(request);
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

/** S3: bucket and key are the path, and a query may make it quite another operation. */
function fromPath({ method, path, query }: AwsRequest): Named | undefined {
  const [, bucket, key] = /^\/([^/]+)\/(.+)$/.exec(path) ?? [];
  const plain = [...query.keys()].every((name) => name === 'x-id');
  if (bucket === undefined || key === undefined || !plain) return undefined;
  const input = { Bucket: bucket, Key: decodeURIComponent(key) };
  if (method === 'GET') return { operation: 'GetObject', input };
  return method === 'HEAD' ? { operation: 'HeadObject', input } : undefined;
}

function parseBody(body: Buffer): JsonObject {
  const json = JSON.parse(body.toString('utf8')) as Json;
  return isObject(json) ? json : {};
}
