import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { packChart } from './pack-chart.ts';

const chart = 'collector-sample';
const folder = join(import.meta.dirname, '..', '..', 'charts', chart);

/** Where the samples in crds/samples look for it. */
const places = [
  { bucket: 'development-helm', version: '0.0.1' },
  { bucket: 'production-helm', version: '1.0.0' },
  { bucket: 'production-helm', version: '1.1.0' },
];

/** Puts the charts of the samples into the buckets. What is there already stays: somebody may have uploaded another. */
export async function seedSampleCharts(root: string): Promise<void> {
  for (const { bucket, version } of places) {
    const file = join(root, bucket, 'charts', `${chart}-${version}.tgz`);
    await mkdir(dirname(file), { recursive: true });
    const write = writeFile(file, await packChart(folder, version), { flag: 'wx' });
    await write.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
