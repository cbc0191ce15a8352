import { createHash } from 'node:crypto';
import { GetObjectCommand, type GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { attempted, type Patience } from '../../runtime/aws/attempts.ts';
import { AwsCallError, called } from '../../runtime/aws/call-error.ts';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import { TransientError } from '../../runtime/errors.ts';
import { MAX_PACKED_BYTES } from '../../runtime/helm/chart-archive.ts';
import { invalidChart } from '../../runtime/helm/chart-path.ts';
import {
  type ChartArchive,
  type ChartLocation,
  type ChartRequest,
  type ChartStore,
  locationText,
} from './chart-store.ts';

export interface S3ChartOptions extends Pick<Patience, 'clock' | 'random'> {
  readonly client: S3Client;
}

export interface S3Site extends Omit<S3ChartOptions, 'client'> {
  readonly region: string;
  /** Default: the public one of the region. */
  readonly endpoint?: string | undefined;
}

const PATIENCE = { attempts: 3, milliseconds: 8_000 } as const;
const REQUEST_MILLISECONDS = 4_000;
const NOT_MODIFIED = 304;

/** The charts of a region. */
export function openChartStore({ region, endpoint, ...time }: S3Site): ChartStore {
  const options = clientOptions({ region, endpoint, requestMilliseconds: REQUEST_MILLISECONDS });
  // At an address of one's own, buckets have no host names.
  const client = new S3Client({ ...options, forcePathStyle: endpoint !== undefined });
  return createChartStore({ ...time, client });
}

export function createChartStore({ client, ...time }: S3ChartOptions): ChartStore {
  return {
    async fetch(request, signal) {
      const what = `reading ${locationText(request)}`;
      const read = () => called(what, () => download(client, request, signal), signal);
      const answer = await attempted(read, { ...PATIENCE, ...time }, signal).catch(
        (error: unknown) => {
          throw error instanceof AwsCallError ? explained(error, request) : error;
        },
      );
      if (answer !== 'too large') return answer;
      throw invalidChart(`${locationText(request)} must have at most 5 MB packed, got more`);
    },
  };
}

async function download(
  client: S3Client,
  { bucket, key, knownEtag }: ChartRequest,
  signal?: AbortSignal,
): Promise<ChartArchive | 'unchanged' | 'too large'> {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: key,
    ...(knownEtag !== undefined && { IfNoneMatch: knownEtag }),
  });
  try {
    const answer = await client.send(command, { ...(signal && { abortSignal: signal }) });
    const bytes = await readBounded(answer);
    if (bytes === undefined) return 'too large';
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { bytes, digest, etag: answer.ETag ?? '' };
  } catch (error) {
    if (isNotModified(error)) return 'unchanged';
    throw error;
  }
}

/** Undefined if there is too much, whatever the answer says of its own length; the rest is not read then. */
async function readBounded({ Body }: GetObjectCommandOutput): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (Body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_PACKED_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const isNotModified = (error: unknown): boolean =>
  (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata
    ?.httpStatusCode === NOT_MODIFIED;

/** For the user. Both may be over soon: somebody uploads the chart, gives the right, or S3 comes back. */
function explained({ code, fault, message }: AwsCallError, location: ChartLocation): Error {
  if (/^NoSuch|NotFound$/.test(code)) {
    const problem = code === 'NoSuchBucket' ? 'there is no such bucket' : 'there is no such object';
    return new TransientError(
      'ChartNotFound',
      `chart ${locationText(location)} was not found: ${problem}`,
    );
  }
  // S3 says "denied" of what is not there, too, unless one may list the bucket.
  const hint = fault === 'denied' ? ' (or there is no such object)' : '';
  return new TransientError('ChartStoreUnavailable', `${message}${hint}`);
}
