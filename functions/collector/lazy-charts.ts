import { type Environment, readRegion } from '../../runtime/aws/environment-reader.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChartStore } from './chart-store.ts';

/** Charts in the S3 of the function's region. The client is loaded when the first chart is asked for. */
export function createLazyChartStore(environment: Environment, clock: Clock): ChartStore {
  const region = readRegion(environment);
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'];
  let store: Promise<ChartStore> | undefined;
  const loaded = (): Promise<ChartStore> => {
    store ??= import('./s3-charts.ts').then(({ openChartStore }) =>
      openChartStore({ region, endpoint, clock }),
    );
    return store;
  };
  return { fetch: async (request, signal) => (await loaded()).fetch(request, signal) };
}
