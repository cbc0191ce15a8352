/** An answer of S3 that is an error. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const noSuchKey = (): S3Error =>
  new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');

export const noSuchBucket = (): S3Error =>
  new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
