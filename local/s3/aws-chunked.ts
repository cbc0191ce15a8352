import { S3Error } from './s3-error.ts';

/**
 * The content of a body in chunks, as clients send it that add a checksum at its end:
 * `<size in hex>[;signature]\r\n<bytes>\r\n`, a chunk of size 0, and trailers, which are not looked at.
 */
export function decodeChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = sizeIn(body.subarray(at, Math.max(lineEnd, at)).toString('latin1'));
    if (size === 0) return Buffer.concat(chunks);
    const start = lineEnd + 2;
    const end = start + size;
    if (body.subarray(end, end + 2).toString('latin1') !== '\r\n') throw incomplete();
    chunks.push(body.subarray(start, end));
    at = end + 2;
  }
}

function sizeIn(line: string): number {
  const digits = /^([\da-f]{1,8})(;|$)/i.exec(line)?.[1];
  if (digits === undefined) throw incomplete();
  return Number.parseInt(digits, 16);
}

const incomplete = (): S3Error =>
  new S3Error(400, 'IncompleteBody', 'The request body terminated unexpectedly');
