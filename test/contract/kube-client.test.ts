import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KubeConnectionError } from '../../runtime/kube/client.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { startWidgetPlane, type WidgetPlane } from '../helpers/runtime-plane.ts';
import { configMapKind, widgetKind, widgetOperator, widgetRef } from '../helpers/runtime-widget.ts';

const fieldManager = 'test';
const conflict = { name: 'KubeApiError', status: 409, reason: 'Conflict' };
const namespaceKind = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' };

describe('the Kubernetes client on a real API server', () => {
  let plane: WidgetPlane;

  beforeAll(async () => {
    plane = await startWidgetPlane(widgetOperator);
  });

  afterAll(() => plane?.stop());

  test('gets an object, and undefined where there is none', async () => {
    await plane.widgets.create('here', { size: 1 });
    expect(await plane.admin.get(widgetRef('here'))).toMatchObject({ spec: { size: 1 } });
    expect(await plane.admin.get(widgetRef('nowhere'))).toBeUndefined();
  });

  test('lists in pages, all of one version, until there is no continue token', async () => {
    const labels = { suite: 'pages' };
    for (let i = 0; i < 7; i += 1) await plane.widgets.create(`page-${i}`, {}, { labels });
    const pages = [];
    let next: string | undefined;
    do {
      const page = await plane.admin.list(widgetKind, {
        limit: 3,
        labelSelector: 'suite=pages',
        ...(next !== undefined && { continue: next }),
      });
      pages.push(page);
      next = page.continue;
    } while (next !== undefined);
    expect(pages.map(({ items }) => items.length)).toEqual([3, 3, 1]);
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
  });

  test('lists one namespace, or all', async () => {
    const namespaces = ['list-a', 'list-b'];
    for (const name of namespaces) {
      await plane.admin.create(namespaceKind, '', { metadata: { name } });
      const metadata = { name: `in-${name}`, labels: { suite: 'namespaces' } };
      await plane.admin.create(widgetKind, name, { metadata });
    }
    const names = async (namespace?: string) => {
      const { items } = await plane.admin.list(widgetKind, {
        limit: 10,
        labelSelector: 'suite=namespaces',
        ...(namespace !== undefined && { namespace }),
      });
      return (items as readonly KubeObject[]).map(({ metadata }) => metadata.name);
    };
    expect(await names('list-b')).toEqual(['in-list-b']);
    expect(await names()).toEqual(['in-list-a', 'in-list-b']);
    expect(await names('nowhere')).toEqual([]);
  });

  test('streams a watch line by line, from the version asked for, until it is aborted', async () => {
    const { resourceVersion } = await plane.admin.list(widgetKind, { limit: 1 });
    const end = new AbortController();
    const stream = await plane.admin.watch(widgetKind, {
      resourceVersion,
      timeoutSeconds: 60,
      signal: end.signal,
    });
    const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
    await plane.widgets.create('watched');
    await plane.widgets.delete('watched');
    const seen = [await lines.next(), await lines.next()].map(({ value = '' }) =>
      JSON.parse(value),
    );
    expect(seen).toMatchObject([
      { type: 'ADDED', object: { metadata: { name: 'watched' } } },
      { type: 'DELETED', object: { metadata: { name: 'watched' } } },
    ]);
    const closed = once(stream, 'close').catch(() => undefined);
    end.abort();
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  test('applies only the fields it owns, and removes those it gives up', async () => {
    const ref = widgetRef('applied');
    const apply = (spec: object) =>
      plane.admin.apply(ref, { metadata: { name: 'applied' }, spec }, { fieldManager });
    await apply({ size: 1, colour: 'red' });
    await plane.widgets.patch('applied', { spec: { shape: 'round' } });
    expect(await apply({ size: 2 })).toMatchObject({ spec: { size: 2, shape: 'round' } });
    expect((await plane.widgets.mustGet('applied')).spec).not.toHaveProperty('colour');
  });

  test('takes fields over from others unless it is told not to', async () => {
    const ref = widgetRef('contested');
    const apply = (size: number, manager: string, options: object = {}) =>
      plane.admin.apply(
        ref,
        { metadata: { name: 'contested' }, spec: { size } },
        { fieldManager: manager, ...options },
      );
    await apply(1, 'first');
    await expect(apply(2, 'second', { force: false })).rejects.toMatchObject({
      ...conflict,
      message: expect.stringContaining('first'),
    });
    expect(await plane.widgets.get('contested')).toMatchObject({ spec: { size: 1 } });
    // The same value is nobody's loss.
    await apply(1, 'second', { force: false });
    expect(await apply(3, 'third')).toMatchObject({ spec: { size: 3 } });
  });

  test('knows the version of the API server', async () => {
    expect(await plane.admin.serverVersion()).toMatch(/^v1\.\d+\.\d+/);
    const aborted = plane.admin.serverVersion(AbortSignal.abort(new Error('enough')));
    await expect(aborted).rejects.toThrow();
  });

  test('applies to the status alone, or checks without storing', async () => {
    const ref = widgetRef('status');
    const { metadata } = await plane.widgets.create('status', { size: 1 });
    const body = { metadata: { name: 'status' }, spec: { size: 9 }, status: { size: 1 } };
    const written = await plane.admin.apply(ref, body, { fieldManager, subresource: 'status' });
    expect(written).toMatchObject({ spec: { size: 1 }, status: { size: 1 } });
    expect(written.metadata.generation).toBe(metadata.generation);

    const spec = { metadata: { name: 'status' }, spec: { size: 5 } };
    const tried = await plane.admin.apply(ref, spec, { fieldManager, dryRun: true });
    expect(tried.spec).toEqual({ size: 5 });
    expect(await plane.widgets.get('status')).toMatchObject({ spec: { size: 1 } });
  });

  test('fails with 409 if the object was changed, or was replaced by one of the same name', async () => {
    const ref = widgetRef('guarded');
    const { uid, resourceVersion } = (await plane.widgets.create('guarded', { size: 1 })).metadata;
    const metadata = { name: 'guarded', uid, resourceVersion };
    const status = { fieldManager, subresource: 'status' } as const;
    const mustNotPass = async () => {
      const { admin } = plane;
      const applied = admin.apply(ref, { metadata, status: { size: 7 } }, status);
      await expect(applied).rejects.toMatchObject(conflict);
      const patched = admin.mergePatch(ref, { metadata, spec: { size: 7 } });
      await expect(patched).rejects.toMatchObject(conflict);
    };
    await plane.widgets.patch('guarded', { spec: { size: 2 } });
    await mustNotPass();
    await plane.widgets.delete('guarded');
    await plane.widgets.create('guarded', { size: 2 });
    await mustNotPass();
    expect(await plane.widgets.get('guarded')).toMatchObject({ spec: { size: 2 } });
    expect(await plane.widgets.get('guarded')).not.toHaveProperty('status');
  });

  test('fails to apply to an object by the uid of another, and does not bring back a deleted one', async () => {
    const ref = widgetRef('named');
    const apply = (uid: string) =>
      plane.admin.apply(ref, { metadata: { name: 'named', uid } }, { fieldManager });
    const { uid } = (await plane.widgets.create('named')).metadata;
    await expect(apply('of-another-one')).rejects.toMatchObject({
      status: expect.toBeOneOf([409, 422]),
    });
    await plane.widgets.delete('named');
    await expect(apply(uid)).rejects.toMatchObject(conflict);
    expect(await plane.widgets.get('named')).toBeUndefined();
  });

  test('deletes the object that was read, not a new one of the same name', async () => {
    const ref = widgetRef('deleted');
    const { uid } = (await plane.widgets.create('deleted')).metadata;
    await expect(plane.admin.delete(ref, { uid: 'of-another-one' })).rejects.toMatchObject({
      status: 409,
    });
    expect(await plane.widgets.get('deleted')).toBeDefined();
    await plane.admin.delete(ref, { uid });
    expect(await plane.widgets.get('deleted')).toBeUndefined();
    await plane.admin.delete(ref, { uid });
  });

  test('fails with 403 and the reason where RBAC gives no right', async () => {
    const stranger = createKubeClient(plane.connectionOf('stranger'));
    const refused = {
      status: 403,
      reason: 'Forbidden',
      message: expect.stringMatching(/stranger/),
    };
    await expect(stranger.get(widgetRef('here'))).rejects.toMatchObject(refused);
    await expect(
      stranger.watch(widgetKind, { resourceVersion: '1', timeoutSeconds: 1 }),
    ).rejects.toMatchObject(refused);
    await expect(plane.kube.list(configMapKind, { limit: 1 })).rejects.toMatchObject({
      status: 403,
    });
  });

  test('acts as somebody else, with no more rights than that one has', async () => {
    const impersonate = { user: 'made-up', groups: ['podless:widget', 'podless:nothing'] };
    const client = createKubeClient({ ...plane.connectionOf('admin'), impersonate });
    expect(await client.get(widgetRef('here'))).toBeDefined();
    await expect(client.list(configMapKind, { limit: 1 })).rejects.toMatchObject({
      status: 403,
      message: expect.stringMatching(/made-up/),
    });
  });

  test('fails with 401 for an unknown token, and as a connection for an unknown authority', async () => {
    const connection = plane.connectionOf('admin');
    const { ca: _ca, ...untrusting } = connection;
    const unknown = createKubeClient({ ...connection, token: async () => 'made-up' });
    await expect(unknown.get(widgetRef('here'))).rejects.toMatchObject({ status: 401 });
    await expect(createKubeClient(untrusting).get(widgetRef('here'))).rejects.toThrow(
      KubeConnectionError,
    );
  });
});
