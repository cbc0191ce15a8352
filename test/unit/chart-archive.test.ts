import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TerminalError } from '../../runtime/errors.ts';
import { unpackChart } from '../../runtime/helm/chart-archive.ts';
import {
  type ArchiveEntry,
  archiveOf,
  chartYaml,
  tarOf,
  withHeader,
} from '../helpers/collector-archive.ts';

const MEGABYTE = 1024 * 1024;

let scratch: string;
let last = 0;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'podless-archive-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const newFolder = () => {
  last += 1;
  return join(scratch, `chart-${last}`);
};

/** The files of the chart, by path. */
async function unpacked(bytes: Uint8Array): Promise<Record<string, string>> {
  const folder = newFolder();
  await unpackChart(bytes, folder);
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  const contents = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}

/** Why an archive is refused; nothing may be left of it. */
async function refusal(bytes: Uint8Array): Promise<string> {
  const folder = newFolder();
  const error = await unpackChart(bytes, folder).then(
    () => new Error('it was taken'),
    (reason: unknown) => reason,
  );
  expect(existsSync(folder)).toBe(false);
  expect(error).toBeInstanceOf(TerminalError);
  expect(error).toMatchObject({ reason: 'InvalidChart' });
  return (error as Error).message;
}

const refusalOf = async (...entries: readonly ArchiveEntry[]) => refusal(await archiveOf(entries));

describe('a chart archive', () => {
  test('is unpacked without its top folder, byte by byte', async () => {
    const binary = randomBytes(70_000);
    const folder = newFolder();
    await unpackChart(
      await archiveOf([
        chartYaml(),
        ['sample/templates/', { type: 'directory' }],
        ['sample/templates/deployment.yaml', 'kind: Deployment\n'],
        ['sample/files/icon.png', binary],
        ['sample/empty', ''],
      ]),
      folder,
    );
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(['Chart.yaml', 'templates', 'files', 'empty']),
    );
    expect(await readFile(join(folder, 'files/icon.png'))).toEqual(binary);
  });

  test('may have been packed by `tar czf x.tgz ./sample`', async () => {
    const [, content] = chartYaml();
    const entries: ArchiveEntry[] = [
      ['./', { type: 'directory' }],
      ['./sample/', { type: 'directory' }],
      ['./sample/Chart.yaml', content],
    ];
    expect(Object.keys(await unpacked(await archiveOf(entries)))).toEqual(['Chart.yaml']);
  });

  test('has its packed dependencies unpacked too, also those of dependencies', async () => {
    const inner = await archiveOf([chartYaml('inner'), ['inner/templates/a.yaml', 'a: 1']]);
    const middle = await archiveOf([chartYaml('middle'), ['middle/charts/inner-1.0.0.tgz', inner]]);
    const outer = [chartYaml(), ['sample/charts/middle-2.0.0.tgz', middle] as const];
    expect(Object.keys(await unpacked(await archiveOf(outer))).toSorted()).toEqual([
      'Chart.yaml',
      'charts/middle-2.0.0/Chart.yaml',
      'charts/middle-2.0.0/charts/inner-1.0.0/Chart.yaml',
      'charts/middle-2.0.0/charts/inner-1.0.0/templates/a.yaml',
    ]);
  });

  test.each<[string, string]>([
    ['up and out', 'sample/../../evil'],
    ['up at the start', '../evil'],
    ['up at the end', 'sample/templates/..'],
    ['an absolute path', '/etc/cron.d/evil'],
    ['a backslash', 'sample\\..\\evil'],
    ['an empty part', 'sample//evil'],
    ['a dot part', 'sample/./evil'],
    ['a line break', 'sample/a\nb'],
    ['a name of 256 bytes', `sample/${'a'.repeat(249)}`],
    ['bytes that are no text', 'sample/\uFFFD'],
  ])('with a path that has %s is refused by name', async (_, name) => {
    const message = await refusalOf(chartYaml(), [name, 'x']);
    expect(message).toMatch(/^the chart archive must hold only relative paths/);
    expect(message).toContain(JSON.stringify(name.slice(0, 100)));
    expect(existsSync(join(scratch, 'evil'))).toBe(false);
  });

  test('may have a path of 255 bytes', async () => {
    const name = `${'a'.repeat(100)}/${'b'.repeat(147)}`;
    const files = await unpacked(await archiveOf([chartYaml(), [`sample/${name}`, 'x']]));
    expect(files[name]).toBe('x');
  });

  test.each<[string, ArchiveEntry]>([
    ['symlink', ['sample/values.yaml', { type: 'symlink', linkname: '/etc/passwd' }]],
    ['link', ['sample/values.yaml', { type: 'link', linkname: 'sample/Chart.yaml' }]],
    ['character-device', ['sample/zero', { type: 'character-device', devmajor: 1, devminor: 5 }]],
    ['block-device', ['sample/disk', { type: 'block-device', devmajor: 8 }]],
    ['fifo', ['sample/pipe', { type: 'fifo' }]],
    ['contiguous-file', ['sample/old', { type: 'contiguous-file' }]],
  ])('with a %s is refused by name', async (type, entry) => {
    expect(await refusalOf(chartYaml(), entry)).toBe(
      `the chart archive must hold only files and folders, got "${entry[0]}" (${type})`,
    );
  });

  test('with a link for its top folder is refused', async () => {
    const link: ArchiveEntry = ['sample', { type: 'symlink', linkname: '/etc' }];
    expect(await refusalOf(link, chartYaml())).toContain('must hold a folder, got "sample"');
  });

  test('with a type that no program knows is refused', async () => {
    const tar = await tarOf([['sample/sparse', 'x'], chartYaml()]);
    const sparse = withHeader(tar, (header) => header.write('S', 156));
    expect(await refusal(gzipSync(sparse))).toContain('"sample/sparse" (of an unknown type)');
  });

  test('with a path twice is refused, whether file or folder', async () => {
    const [name, content] = chartYaml();
    expect(await refusalOf(chartYaml(), [name, content])).toContain('each path once');
    expect(await refusalOf(chartYaml(), [`./${name}`, content])).toContain('each path once');
    expect(await refusalOf(chartYaml(), ['sample/a', 'x'], ['sample/a/b', 'y'])).toContain('"a"');
    expect(await refusalOf(chartYaml(), ['sample/a/b', 'y'], ['sample/a', 'x'])).toContain('"a"');
    const folder: ArchiveEntry = ['sample/a', { type: 'directory' }];
    expect(await refusalOf(chartYaml(), ['sample/a', 'x'], folder)).toContain('"a"');
  });

  test('with two top folders, or none, or no Chart.yaml is refused', async () => {
    const other: ArchiveEntry = ['other/values.yaml', ''];
    expect(await refusalOf(chartYaml(), other)).toContain('one folder, got "other/values.yaml"');
    expect(await refusalOf(['Chart.yaml', 'name: x'])).toContain('got "Chart.yaml"');
    expect(await refusalOf(['sample/values.yaml', ''])).toContain('must hold <name>/Chart.yaml');
    expect(await refusalOf(['sample/a/Chart.yaml', ''])).toContain('must hold <name>/Chart.yaml');
    expect(await refusalOf()).toContain('must hold <name>/Chart.yaml');
  });

  test('of more than 5 MB is refused before it is looked into', async () => {
    expect(await refusal(Buffer.alloc(5 * MEGABYTE + 1))).toContain('at most 5 MB packed');
    const noise = randomBytes(5 * MEGABYTE - 4_000);
    expect(await unpacked(await archiveOf([chartYaml(), ['sample/noise', noise]]))).toHaveProperty(
      'noise',
    );
  });

  test('of more than 50 MB unpacked is refused, in one file or in many, however it lies', async () => {
    const zeros = Buffer.alloc(10 * MEGABYTE);
    const parts = Array.from({ length: 6 }, (_, i) => [`sample/${i}`, zeros] as const);
    expect(await refusalOf(chartYaml(), ...parts)).toContain('at most 50 MB unpacked');
    const bomb = gzipSync(Buffer.alloc(200 * MEGABYTE));
    expect(await refusal(bomb)).toContain('at most 50 MB unpacked');
    const tar = await tarOf([['sample/a', 'x'], chartYaml()]);
    const liar = withHeader(tar, (header) => header.write('77777777777', 124));
    expect(await refusal(gzipSync(liar))).toContain('at most 50 MB unpacked');
  });

  test('counts what is in its dependencies', async () => {
    const zeros = Buffer.alloc(30 * MEGABYTE);
    const inner = await archiveOf([chartYaml('inner'), ['inner/zeros', zeros]]);
    const entries: ArchiveEntry[] = [
      chartYaml(),
      ['sample/charts/a.tgz', inner],
      ['sample/charts/b.tgz', inner],
    ];
    expect(await refusalOf(...entries)).toContain('at most 50 MB unpacked');
  });

  test('that holds itself again and again is refused', async () => {
    let bytes = await archiveOf([chartYaml()]);
    for (let depth = 0; depth < 10; depth += 1) {
      bytes = await archiveOf([chartYaml(), ['sample/charts/a.tgz', bytes]]);
    }
    expect(await refusal(bytes)).toContain('nest charts at most 5 deep');
  });

  test('may hold 2,000 files and no more, folders counted apart', async () => {
    const files = (count: number) =>
      Array.from({ length: count }, (_, i) => [`sample/templates/${i}`, ''] as const);
    expect(
      Object.keys(await unpacked(await archiveOf([chartYaml(), ...files(1_999)]))),
    ).toHaveLength(2_000);
    expect(await refusalOf(chartYaml(), ...files(2_000))).toContain('at most 2000 files');
    const deep = Array.from(
      { length: 40 },
      (_, i) => [`sample/${i}/${'d/'.repeat(60)}f`, ''] as const,
    );
    expect(await refusalOf(chartYaml(), ...deep)).toContain('at most 2000 folders');
  });

  test('is not refused for a disk that is full or a folder that is there', async () => {
    const folder = newFolder();
    const bytes = await archiveOf([chartYaml()]);
    await unpackChart(bytes, folder);
    await expect(unpackChart(bytes, folder)).rejects.not.toBeInstanceOf(TerminalError);
    expect(existsSync(join(folder, 'Chart.yaml'))).toBe(true);
  });
});

describe('an archive that is damaged', () => {
  test.each<[string, () => Promise<Uint8Array>]>([
    ['no bytes', async () => Buffer.alloc(0)],
    ['plain text', async () => Buffer.from('not found')],
    ['a tar file that was not packed', () => tarOf([chartYaml()])],
    ['gzip of something else', async () => gzipSync('hello')],
    [
      'a tar file cut short inside',
      async () => gzipSync((await tarOf([chartYaml()])).subarray(0, 530)),
    ],
    ['a zip file', async () => Buffer.from('PK\u0003\u0004rest')],
  ])('as %s is refused', async (_, bytes) => {
    expect(await refusal(await bytes())).toMatch(/must be a whole tar\.gz file|must hold <name>/);
  });

  test('at any place never does harm and never hangs: it is refused, or unpacked as it was', async () => {
    const entries: ArchiveEntry[] = [
      chartYaml(),
      ['sample/noise', randomBytes(3_000)],
      ['sample/b', 'b'],
    ];
    const whole = await archiveOf(entries);
    const intact = await unpacked(whole);
    const place = fc.nat({ max: whole.length - 1 });
    await fc.assert(
      fc.asyncProperty(
        place,
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, bits, cut) => {
          const damaged = Buffer.from(cut ? whole.subarray(0, at) : whole);
          if (!cut) damaged[at] = (damaged[at] ?? 0) ^ bits;
          const result = await unpacked(damaged).catch((error: unknown) => error);
          if (result instanceof Error) expect(result).toMatchObject({ reason: 'InvalidChart' });
          else expect(result).toEqual(intact);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('inside its tar is refused or holds only plain files', async () => {
    const tar = await tarOf([chartYaml(), ['sample/a', 'x'.repeat(600)]]);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: tar.length - 1 }), fc.nat({ max: 255 }), async (at, byte) => {
        const damaged = Buffer.from(tar);
        damaged[at] = byte;
        const result = await unpacked(gzipSync(damaged)).catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toMatchObject({ reason: 'InvalidChart' });
      }),
      { numRuns: 300 },
    );
  });
});
