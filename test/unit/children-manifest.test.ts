import { describe, expect, test } from 'vitest';
import { type Child, digestOf, manifestOf } from '../../runtime/children/child.ts';
import { describeOwner } from '../../runtime/children/conflict.ts';
import type { KubeObject } from '../../runtime/kube/objects.ts';
import { configMapKind } from '../helpers/runtime-widget.ts';

const object: KubeObject = {
  apiVersion: 'test.podless.dev/v1',
  kind: 'Widget',
  metadata: { name: 'w', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
};
const child: Child = { kind: configMapKind, name: 'c', content: { data: { a: '1', b: '2' } } };
const bodyOf = (change: Partial<Child> = {}, owner = object) =>
  manifestOf({ ...child, ...change }, { object: owner, operator: 'widget' }).body;

const digest = (change?: Partial<Child>, owner?: KubeObject) =>
  (bodyOf(change, owner).metadata as { annotations: Record<string, string> }).annotations[
    'podless.dev/applied-digest'
  ];

describe('the manifest of a child', () => {
  test('has the fields that are asked for, and those that make it a child', () => {
    const { ref, body } = manifestOf(
      { ...child, labels: { app: 'x' }, annotations: { note: 'y' } },
      { object, operator: 'widget' },
    );
    expect(ref).toEqual({ kind: configMapKind, namespace: 'shop', name: 'c' });
    expect(body).toEqual({
      metadata: {
        name: 'c',
        namespace: 'shop',
        labels: { app: 'x', 'podless.dev/operator': 'widget' },
        annotations: {
          note: 'y',
          'podless.dev/owner': 'shop/w',
          'podless.dev/applied-digest': expect.any(String),
        },
        ownerReferences: [
          {
            apiVersion: 'test.podless.dev/v1',
            kind: 'Widget',
            name: 'w',
            uid: 'u1',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      data: { a: '1', b: '2' },
    });
  });

  test('has another digest for another content, label, annotation or owner, and for nothing else', () => {
    const other = { ...object, metadata: { ...object.metadata, uid: 'u2' } };
    const digests = [
      digest(),
      digest({ content: { data: { a: '1' } } }),
      digest({ labels: { app: 'x' } }),
      digest({ annotations: { note: 'y' } }),
      digest({}, other),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    const later = { ...object, metadata: { ...object.metadata, resourceVersion: '9' } };
    expect(digest({ content: { data: { b: '2', a: '1' } } }, later)).toBe(digest());
  });

  test('has a digest that does not depend on the order of keys, but on that of lists', () => {
    expect(digestOf({ a: { x: 1, y: [{ p: 1, q: 2 }] }, b: 2 })).toBe(
      digestOf({ b: 2, a: { y: [{ q: 2, p: 1 }], x: 1 } }),
    );
    expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]));
    expect(digestOf({ a: '1' })).not.toBe(digestOf({ a: 1 }));
  });
});

describe('who an object belongs to, for people', () => {
  const live = (metadata: object): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });

  test.each([
    ['Widget w', { ownerReferences: [{ kind: 'Widget', name: 'w', controller: true }] }],
    [
      'the Helm release a/b',
      { annotations: { 'meta.helm.sh/release-name': 'b', 'meta.helm.sh/release-namespace': 'a' } },
    ],
    [
      'nobody; it was made by kubectl',
      { managedFields: [{ manager: 'kcm', subresource: 'status' }, { manager: 'kubectl' }] },
    ],
    ['nobody we know', { ownerReferences: [{ kind: 'Widget', name: 'w' }] }],
  ])('%s', (expected, metadata) => {
    expect(describeOwner(live(metadata))).toBe(expected);
  });
});
