/** An answer of the Lambda service that is an error, in the shape AWS clients understand. */
export class ServiceError extends Error {
  readonly status: number;
  /** Goes into the x-amzn-ErrorType header; clients name their exception after it. */
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.name = 'ServiceError';
    this.status = status;
    this.type = type;
  }
}

export const functionNotFound = (functionArn: string): ServiceError =>
  new ServiceError(404, 'ResourceNotFoundException', `Function not found: ${functionArn}`);

export const requestTooLarge = (maxBytes: number): ServiceError =>
  new ServiceError(
    413,
    'RequestTooLargeException',
    `Request must be smaller than ${maxBytes} bytes for the InvokeFunction operation`,
  );

export const notJson = (cause: unknown): ServiceError =>
  new ServiceError(
    400,
    'InvalidRequestContentException',
    `Could not parse request body into json: ${cause instanceof Error ? cause.message : String(cause)}`,
  );

export const invalidParameter = (message: string): ServiceError =>
  new ServiceError(400, 'InvalidParameterValueException', message);

export const tooManyRequests = (message: string): ServiceError =>
  new ServiceError(429, 'TooManyRequestsException', message);
