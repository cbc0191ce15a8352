import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readRevisions, recordOf } from '../../runtime/helm/stored-release.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';

const packed = (record: unknown): string => {
  const inner = gzipSync(JSON.stringify(record)).toString('base64');
  return Buffer.from(inner).toString('base64');
};

const secret = (version: string, status: string, release = packed({ manifest: 'a: 1' })) => ({
  metadata: {
    name: `sh.helm.release.v1.web.v${version}`,
    namespace: 'shop',
    labels: { version, status, owner: 'helm', name: 'web' },
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  data: { release },
});

/** Only `list` is called here. */
const kubeWith = (items: readonly unknown[]): KubeClient =>
  ({ list: async () => ({ resourceVersion: '1', items }) }) as unknown as KubeClient;

const release = { name: 'web', namespace: 'shop' };

describe('the revisions of a release', () => {
  test('are in order, the newest first, as numbers', async () => {
    const kube = kubeWith([
      secret('9', 'superseded'),
      secret('10', 'deployed'),
      secret('2', 'failed'),
    ]);
    const revisions = await readRevisions(release, kube);
    expect(revisions.map(({ version, status }) => [version, status])).toEqual([
      [10, 'deployed'],
      [9, 'superseded'],
      [2, 'failed'],
    ]);
  });

  test('leave out what is no revision', async () => {
    const kube = kubeWith([secret('x', 'deployed'), { metadata: { labels: { version: '1' } } }]);
    expect(await readRevisions(release, kube)).toEqual([]);
  });

  test('hold manifest and hooks', async () => {
    const record = { manifest: 'a: 1', hooks: [{ name: 'h', manifest: 'b: 2' }, { name: 'i' }] };
    const [revision] = await readRevisions(
      release,
      kubeWith([secret('1', 'deployed', packed(record))]),
    );
    if (!revision) throw new Error('there must be a revision');
    expect(await recordOf(revision)).toEqual({ manifest: 'a: 1', hooks: ['b: 2'] });
  });

  test.each([
    ['no base64', '%%%'],
    ['no gzip', Buffer.from('aGVsbG8=').toString('base64')],
    ['no object', packed('text')],
  ])('are unreadable with %s, which is no exception', async (_what, data) => {
    const [revision] = await readRevisions(release, kubeWith([secret('1', 'deployed', data)]));
    if (!revision) throw new Error('there must be a revision');
    expect(await recordOf(revision)).toBeUndefined();
  });
});
