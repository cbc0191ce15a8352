import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWatcher } from '../../functions/watcher/watcher.ts';
import { type ControlPlane, startControlPlane } from '../../local/control-plane/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createKubeClient } from '../../runtime/kube/rest-client.ts';
import { connectionOf } from '../helpers/runtime-plane.ts';
import {
  configMapKind,
  heldWidgetOperator,
  installWidgets,
  widgetKind,
} from '../helpers/runtime-widget.ts';
import { until } from '../helpers/until.ts';
import { createInvocation, createMemoryPlatform } from '../helpers/watch-platform.ts';

/** One shift after the other on a real API server, before its kind is installed and through a restart. */
describe('the watcher on a real API server', () => {
  let plane: ControlPlane;
  let admin: KubeClient;
  let memory: ReturnType<typeof createMemoryPlatform>;
  const widget = (name: string) => ({ kind: widgetKind, namespace: 'default', name });
  const child = (name: string) => ({ kind: configMapKind, namespace: 'default', name });

  beforeAll(async () => {
    plane = await startControlPlane({ users: [] });
    admin = createKubeClient(connectionOf(plane, 'admin'));
    memory = createMemoryPlatform(admin, systemClock);
  });
  afterAll(() => plane.stop());

  const shift = (shiftSeconds: number) =>
    createWatcher([heldWidgetOperator], { maximumMilliseconds: 1000 })(memory.platform)(
      { shiftSeconds },
      createInvocation(systemClock, 600),
    );
  const hinted = (what: string) =>
    until(async () => (memory.names().includes(what) ? true : undefined), {
      seconds: 30,
      what: async () => `${what} on the bus; there is ${memory.names().join(', ')}`,
    });
  const observe = async (name: string) => {
    const object = await admin.get(widget(name));
    const status = { observedGeneration: object?.metadata.generation, phase: 'Fine' };
    await admin.apply(
      widget(name),
      { metadata: { name }, status },
      { fieldManager: 'test', subresource: 'status' },
    );
  };

  test('waits for its kind, forwards what needs a look, and maps children to their owner', async () => {
    const running = shift(12);
    await until(
      async () =>
        memory.lines.some(({ message }) => message === 'kind is not installed') ? true : undefined,
      { seconds: 20, what: async () => 'the line' },
    );
    await installWidgets(admin);
    const { metadata } = await admin.create(widgetKind, 'default', {
      metadata: { name: 'one' },
      spec: { size: 1 },
    });
    await hinted('one:New');
    await observe('one');
    const owner = {
      apiVersion: 'test.podless.dev/v1',
      kind: 'Widget',
      name: 'one',
      uid: metadata.uid,
      controller: true,
    };
    const labels = { 'test.podless.dev/widget': 'one' };
    await admin.create(configMapKind, 'default', {
      metadata: { name: 'unlabelled', ownerReferences: [owner] },
    });
    await admin.create(configMapKind, 'default', {
      metadata: { name: 'one', labels, ownerReferences: [owner] },
    });
    await hinted('one:ChildChanged');
    const before = memory.bus.length;
    await admin.delete(child('one'), {});
    await until(async () => (memory.bus.length > before ? true : undefined), {
      seconds: 20,
      what: async () => 'the deletion',
    });
    expect(memory.bus.at(-1)).toMatchObject({
      name: 'one',
      kind: 'Widget',
      reason: 'ChildChanged',
    });
    await admin.mergePatch(widget('one'), { spec: { size: 2 } });
    await hinted('one:SpecChanged');
    await observe('one');
    await running;
    expect(memory.counter('podless_watch_suppressed_total', { kind: 'Widget' })).toBeGreaterThan(0);
  });

  test('goes on from its cursor in the next shift, without a list and without repeating itself', async () => {
    const relists = memory.counter('podless_watch_relists_total', { kind: 'Widget' });
    const before = memory.bus.length;
    await admin.create(widgetKind, 'default', { metadata: { name: 'between' }, spec: {} });
    await shift(3);
    expect(memory.names().slice(before)).toEqual(['between:New']);
    expect(memory.counter('podless_watch_relists_total', { kind: 'Widget' })).toBe(relists);
  });

  test('survives a restart of the API server', async () => {
    const running = shift(25);
    await until(
      async () =>
        memory.counter('podless_watch_connects_total', { kind: 'Widget' }) >= 3 ? true : undefined,
      { seconds: 20, what: async () => 'the watch to open' },
    );
    await plane.restartApiServer();
    await until(
      () =>
        admin.create(widgetKind, 'default', { metadata: { name: 'after' }, spec: {} }).then(
          () => true as const,
          () => undefined,
        ),
      { seconds: 20, what: async () => 'the API server to take a Widget' },
    );
    await hinted('after:New');
    await running;
  });
});
