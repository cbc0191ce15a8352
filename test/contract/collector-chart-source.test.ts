import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChartSource, type OpenedChart } from '../../functions/collector/chart-source.ts';
import { createChartStore } from '../../functions/collector/s3-charts.ts';
import { chartYaml } from '../helpers/collector-archive.ts';
import { s3Client, startTestS3, type TestS3 } from '../helpers/collector-s3.ts';
import { createTestClock } from '../helpers/runtime-world.ts';

let s3: TestS3;
let folder: string;
let last = 0;

beforeAll(async () => {
  s3 = await startTestS3();
  folder = await mkdtemp(join(tmpdir(), 'podless-test-charts-'));
});

afterAll(async () => {
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A new environment of the function, with nothing in it. */
function environment() {
  last += 1;
  const clock = createTestClock();
  const place = join(folder, String(last));
  const store = createChartStore({ client: s3Client(s3.url), clock });
  return { ...createChartSource({ store, clock, folder: place }), clock, place };
}

const at = (name: string) => ({ bucket: 'production-helm', key: `charts/${name}-1.0.0.tgz` });
const put = (name: string, value: string) =>
  s3.putChart(name, '1.0.0', [chartYaml(name), [`${name}/values.yaml`, value]]);
/** What was answered to each read of a chart so far. */
const reads = (name: string) => s3.readsOf(at(name).key).map(({ status }) => status);
const valuesOf = async (chart: OpenedChart) =>
  readFile(join(await chart.folder(), 'values.yaml'), 'utf8');

describe('charts', () => {
  test('are read once, and then only asked for, and not several times in a few seconds', async () => {
    await put('once', 'a: 1');
    const { open, clock } = environment();
    const chart = await open(at('once'), {});
    expect(chart.isNew).toBe(true);
    expect(await valuesOf(chart)).toBe('a: 1');
    for (let look = 0; look < 5; look += 1) {
      const again = await open(at('once'), { installed: chart });
      expect(again).toMatchObject({ isNew: false, digest: chart.digest });
      expect(await valuesOf(again)).toBe('a: 1');
    }
    expect(reads('once')).toEqual([200]);
    clock.ahead += 11_000;
    await open(at('once'), { installed: chart });
    expect(reads('once')).toEqual([200, 304]);
    await open(at('once'), { installed: chart, askNow: true });
    expect(reads('once')).toEqual([200, 304, 304]);
  });

  test('that are installed already are not read by a new environment before they are needed', async () => {
    await put('cold', 'a: 1');
    const installed = await environment().open(at('cold'), {});
    const cold = await environment().open(at('cold'), { installed });
    expect(cold).toMatchObject({ isNew: false, digest: installed.digest });
    expect(reads('cold')).toEqual([200, 304]);
    expect(await valuesOf(cold)).toBe('a: 1');
    expect(await valuesOf(cold)).toBe('a: 1');
    expect(reads('cold')).toEqual([200, 304, 200]);
  });

  test('that changed in their place are read anew, also by whoever has the old one', async () => {
    await put('changed', 'a: 1');
    const { open, clock } = environment();
    const before = await open(at('changed'), {});
    await put('changed', 'a: 2');
    clock.ahead += 11_000;
    const after = await open(at('changed'), { installed: before });
    expect(after.isNew).toBe(true);
    expect(await valuesOf(after)).toBe('a: 2');
    expect(after.digest).not.toBe(before.digest);
  });

  test('that another environment has installed since are not taken back to the old one', async () => {
    await put('newer', 'a: 1');
    const slow = environment();
    await slow.open(at('newer'), {});
    await put('newer', 'a: 2');
    const installed = await environment().open(at('newer'), {});
    expect((await slow.open(at('newer'), { installed })).digest).toBe(installed.digest);
  });

  test('that change between being asked for and being read are not taken for the old ones', async () => {
    await put('racing', 'a: 1');
    const installed = await environment().open(at('racing'), {});
    const { open } = environment();
    const opened = await open(at('racing'), { installed });
    await put('racing', 'a: 2');
    await expect(opened.folder()).rejects.toMatchObject({ reason: 'ChartChanged' });
    expect(await valuesOf(await open(at('racing'), { installed }))).toBe('a: 2');
  });

  test('that are no charts are refused again without being read again', async () => {
    await s3.put('production-helm', at('torn').key, Buffer.from('torn'));
    const { open } = environment();
    const refused = { reason: 'InvalidChart' };
    await expect(open(at('torn'), {})).rejects.toMatchObject(refused);
    await expect(open(at('torn'), {})).rejects.toMatchObject(refused);
    expect(reads('torn')).toEqual([200, 304]);
    await put('torn', 'a: 1');
    expect(await valuesOf(await open(at('torn'), {}))).toBe('a: 1');
  });

  test('that are installed do not need the store; others do', async () => {
    await put('away', 'a: 1');
    const warm = environment();
    const installed = await warm.open(at('away'), {});
    s3.switchOff(true);
    try {
      warm.clock.ahead += 11_000;
      expect(await valuesOf(await warm.open(at('away'), { installed }))).toBe('a: 1');
      const cold = await environment().open(at('away'), { installed });
      expect(cold.digest).toBe(installed.digest);
      const unavailable = { reason: 'ChartStoreUnavailable' };
      await expect(cold.folder()).rejects.toMatchObject(unavailable);
      await expect(environment().open(at('away'), {})).rejects.toMatchObject(unavailable);
    } finally {
      s3.switchOff(false);
    }
  });

  test('are kept on disk only as long as they are few', async () => {
    const { open, place } = environment();
    const names = Array.from({ length: 9 }, (_, i) => `many-${i}`);
    const folders: string[] = [];
    for (const name of names) {
      await put(name, 'a: 1');
      folders.push(await (await open(at(name), {})).folder());
    }
    expect(await readdir(place)).toHaveLength(6);
    expect(existsSync(folders.at(-1) ?? '')).toBe(true);
    expect(existsSync(folders[0] ?? '')).toBe(false);
  });
});
