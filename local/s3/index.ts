import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type S3Endpoint, startS3Endpoint } from './endpoint.ts';
import { seedSampleCharts } from './sample-charts.ts';

export type { S3Endpoint } from './endpoint.ts';

/**
 * @param place a folder whose subfolders are buckets, or the address of an S3 that runs already. Default: a folder that goes with
 *   the endpoint
 */
export async function startS3(place: string | undefined): Promise<S3Endpoint> {
  if (place === undefined) return startTemporary();
  if (/^https?:\/\//.test(place)) {
    if (!URL.canParse(place))
      throw new Error(`--s3 must be a folder or an address, got "${place}"`);
    return { url: place, stop: async () => {} };
  }
  const folder = resolve(place);
  await mkdir(folder, { recursive: true });
  await seedSampleCharts(folder);
  return startS3Endpoint(folder);
}

async function startTemporary(): Promise<S3Endpoint> {
  const folder = await mkdtemp(join(tmpdir(), 'podless-s3-'));
  await seedSampleCharts(folder);
  const { url, stop } = await startS3Endpoint(folder);
  return {
    url,
    stop: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
