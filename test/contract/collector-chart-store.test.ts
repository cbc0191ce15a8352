import type { ServerResponse } from 'node:http';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChartStore } from '../../functions/collector/s3-charts.ts';
import { type S3Endpoint, startS3 } from '../../local/s3/index.ts';
import { clientOptions } from '../../runtime/aws/client-options.ts';
import {
  hang,
  reset,
  type ServiceBehaviour,
  startHostileService,
  webPage,
} from '../helpers/aws-hostile-service.ts';
import { describeChartStore } from '../helpers/collector-chart-store-contract.ts';
import { credentials } from '../helpers/collector-s3.ts';
import { type Moto, motoMissing, motoName, startMoto } from '../helpers/moto.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

describe('charts in the local S3', () => {
  let s3: S3Endpoint;
  beforeAll(async () => {
    s3 = await startS3(undefined);
  });
  afterAll(() => s3?.stop());
  describeChartStore(() => s3.url);
});

describe.skipIf(motoMissing !== undefined)(`charts in ${motoName}`, () => {
  let moto: Moto;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto?.stop());
  describeChartStore(() => moto.url);
});

const answer =
  (status: number, code: string, message = 'no'): ServiceBehaviour =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);

const chart: ServiceBehaviour = (response: ServerResponse) =>
  response.writeHead(200, { etag: '"e"' }).end('bytes');

/** Promises more than it sends. */
const cutOff: ServiceBehaviour = (response) => {
  response.writeHead(200, { etag: '"e"', 'content-length': 999 });
  response.write('byt');
  setTimeout(() => response.socket?.destroy(), 20);
};

/** Begins, and then says nothing any more. */
const stall: ServiceBehaviour = (response) => {
  response.writeHead(200, { etag: '"e"', 'content-length': 999 });
  response.write('byt');
};

/** Never ends, and does not say how long it is. */
const flood: ServiceBehaviour = (response) => {
  response.writeHead(200, { etag: '"e"' });
  const chunk = Buffer.alloc(256 * 1024);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

const storeAt = (endpoint: string) => {
  const options = clientOptions({ region: 'us-east-1', endpoint, requestMilliseconds: 500 });
  const client = new S3Client({ ...options, credentials, forcePathStyle: true });
  return createChartStore({ client, clock: createTestClock() });
};
const request = { bucket: 'production-helm', key: 'charts/a-1.0.0.tgz' };

describe('a store of charts', () => {
  test.each<[string, ServiceBehaviour]>([
    ['a stale connection', reset],
    ['a throttled call', answer(503, 'SlowDown')],
    ['a failure of the service', answer(500, 'InternalError')],
    ['a gateway in between', webPage],
    ['an answer that is cut off', cutOff],
    ['an answer that stops coming', stall],
    ['no answer', hang],
  ])('asks again after %s', async (_, behaviour) => {
    await using service = await startHostileService(behaviour, chart);
    expect(await storeAt(service.url).fetch(request)).toMatchObject({ etag: '"e"' });
    expect(service.calls).toHaveLength(2);
  });

  test.each<[string, ServiceBehaviour, RegExp]>([
    ['is away', reset, /failed: ECONNRESET$/],
    ['hangs', hang, /failed: \w+$/],
    ['throttles', answer(503, 'SlowDown'), /SlowDown \(HTTP 503\)$/],
  ])(
    'gives up on an S3 that %s, and says so for it to be tried again',
    async (_, behaviour, text) => {
      await using service = await startHostileService(behaviour);
      await expect(storeAt(service.url).fetch(request)).rejects.toMatchObject({
        name: 'TransientError',
        reason: 'ChartStoreUnavailable',
        message: expect.stringMatching(text),
      });
      expect(service.calls).toHaveLength(3);
    },
  );

  test('does not ask again where it is denied, and says that it may as well be missing', async () => {
    await using service = await startHostileService(answer(403, 'AccessDenied', 'role x may not'));
    await expect(storeAt(service.url).fetch(request)).rejects.toMatchObject({
      reason: 'ChartStoreUnavailable',
      message:
        'reading s3://production-helm/charts/a-1.0.0.tgz failed: AccessDenied (HTTP 403): role x may not (or there is no such object)',
    });
    expect(service.calls).toHaveLength(1);
  });

  test('never repeats what a signature error quotes', async () => {
    const quoted = answer(403, 'SignatureDoesNotMatch', 'x-amz-security-token: canary-token');
    await using service = await startHostileService(quoted);
    const error = await storeAt(service.url)
      .fetch(request)
      .catch((reason: unknown) => reason);
    expect(JSON.stringify([error, (error as Error).message, (error as Error).cause])).not.toContain(
      'canary',
    );
  });

  test('stops reading an archive that has no end', async () => {
    await using service = await startHostileService(flood);
    await expect(storeAt(service.url).fetch(request)).rejects.toMatchObject({
      reason: 'InvalidChart',
    });
    expect(service.calls).toHaveLength(1);
  });

  test('stops when it is told to', async () => {
    await using service = await startHostileService(hang);
    const stop = new AbortController();
    const fetching = storeAt(service.url).fetch(request, stop.signal);
    setTimeout(() => stop.abort(new Error('time is over')), 50);
    await expect(fetching).rejects.toThrow('time is over');
  });
});
