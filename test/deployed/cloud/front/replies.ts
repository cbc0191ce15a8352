import type { Json } from '../template/json.ts';
import type { AwsCall } from './aws-call.ts';
import type { Reply } from './aws-request.ts';

/** An error that a service answers with. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export const jsonReply = (status: number, body: Json, headers = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1', ...headers },
  body: Buffer.from(JSON.stringify(body)),
});

export const xmlReply = (status: number, body: string): Reply => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body: Buffer.from(body),
});

/** In the words of the protocol that the service speaks. */
export function errorReply(
  { service }: Pick<AwsCall, 'service'>,
  { code, message, status }: Pick<ServiceError, 'code' | 'message' | 'status'>,
): Reply {
  if (service === 'sts') {
    const error = `<Type>Sender</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message>`;
    return xmlReply(status, `<ErrorResponse><Error>${error}</Error></ErrorResponse>`);
  }
  if (service === 's3') {
    const error = `<Code>${code}</Code><Message>${escapeXml(message)}</Message>`;
    return xmlReply(status, `<Error>${error}</Error>`);
  }
  return jsonReply(status, { __type: code, message }, { 'x-amzn-errortype': code });
}

/** Services differ in the name and status of a refusal. */
export function deniedError(service: string, message: string): ServiceError {
  if (service === 'sts' || service === 's3') return new ServiceError('AccessDenied', message, 403);
  return new ServiceError('AccessDeniedException', message, service === 'eks' ? 403 : 400);
}

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
