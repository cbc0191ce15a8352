import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEarlyDescription } from '../../functions/ddbctldpjob/early-description.ts';
import { ddbctldpjob } from '../../functions/ddbctldpjob/operator.ts';
import type { PartitionTable, TableKeys } from '../../functions/ddbctldpjob/table.ts';
import { TerminalError, TransientError } from '../../runtime/errors.ts';
import { previewOf, readPreview } from '../../runtime/preview.ts';
import { createKindSource } from '../../runtime/watch/source.ts';
import { createVirtualClock } from '../helpers/cloud-clock.ts';

const { signal } = new AbortController();
const orders = { tableName: 'orders', awsRegion: 'us-east-1' };

function createWorld(describeTable = async (): Promise<TableKeys> => keysOf('pk')) {
  const clock = createVirtualClock();
  const described: string[] = [];
  const openTable = ({ tableName, endpointURL }: { tableName: string; endpointURL?: string }) => {
    if (endpointURL === 'http://forbidden') throw new TerminalError('EndpointNotAllowed', 'no');
    const table: PartitionTable = {
      describe: async () => {
        described.push(tableName);
        return describeTable();
      },
      partition: () => {
        throw new Error('not opened here');
      },
    };
    return table;
  };
  const early = createEarlyDescription({ clock, openTable });
  const begin = (spec: object) =>
    early.begin(previewOf({ spec }, ddbctldpjob.preview ?? []), signal);
  const use = (place = orders) => early.usedBy(place, openTable(place)).describe(signal);
  return { clock, described, begin, use };
}

const never = new Promise<never>(() => {});

const keysOf = (name: string): TableKeys => ({
  partitionKey: { name, type: 'S' },
  status: 'ACTIVE',
});

describe('a table that is described before its object was read', () => {
  test.each([
    { spec: orders },
    { spec: { tableName: 'orders' } },
    { spec: { awsRegion: 'us-east-1', ddbCtlDpJob: { tableName: 'orders', endpointURL: '' } } },
  ])('is asked once, in either shape: $spec', async ({ spec }) => {
    const { begin, use, described } = createWorld();
    begin(spec);
    expect(await use()).toEqual(keysOf('pk'));
    expect(described).toEqual(['orders']);
  });

  test('is asked again the next time: it may have changed', async () => {
    const { begin, use, described } = createWorld();
    begin(orders);
    await use();
    await use();
    expect(described).toHaveLength(2);
  });

  test('is not used for another table, nor for one elsewhere', async () => {
    for (const other of [
      { tableName: 'orders2', awsRegion: 'us-east-1' },
      { tableName: 'orders', awsRegion: 'eu-west-1' },
      { ...orders, endpointURL: 'http://localhost:8000' },
    ]) {
      const { begin, use, described } = createWorld();
      begin(orders);
      await use(other);
      expect(described).toEqual(['orders', other.tableName]);
    }
  });

  test('is not used after seconds: the table may have been replaced', async () => {
    const { begin, use, described, clock } = createWorld();
    begin(orders);
    await clock.advance(5_001);
    await use();
    expect(described).toHaveLength(2);
  });

  test('is asked again if that failed, and it is the second answer that counts', async () => {
    const answers = [Promise.reject(new TransientError('X', 'y')), Promise.resolve(keysOf('pk'))];
    const { begin, use, described } = createWorld(() => answers[described.length - 1] ?? never);
    begin(orders);
    expect(await use()).toEqual(keysOf('pk'));
    expect(described).toEqual(['orders', 'orders']);
  });

  test('leaves no trace if nobody needs it, or if it may not be asked', async () => {
    const { begin, described } = createWorld(() => Promise.reject(new TransientError('X', 'y')));
    begin({});
    begin({ tableName: 42 });
    begin({ ...orders, endpointURL: 'http://forbidden' });
    begin({ ...orders, endpointURL: 'http://me:secret@host' });
    begin({ ...orders, awsRegion: 'us-east-1.attacker.example/' });
    begin({ tableName: 'a/b', awsRegion: 'us-east-1' });
    expect(described).toEqual([]);
    begin(orders);
    expect(described).toEqual(['orders']);
  });
});

describe('the preview of an object', () => {
  test('never holds the value of the partition', () => {
    const spec = {
      tableName: 't',
      partitionValue: 'someone',
      ddbCtlDpJob: { partitionValue: 'x' },
    };
    expect(previewOf({ spec }, ddbctldpjob.preview ?? [])).toEqual({ 'spec.tableName': 't' });
  });

  test('travels with the hint on a new object, not with that on one that is gone', () => {
    const { hintForChange } = createKindSource('main', ddbctldpjob);
    const identity = { namespace: 'n', name: 'a', uid: 'u', generation: 1, resourceVersion: '7' };
    const change = { identity, object: { metadata: identity, spec: orders } };
    const hint = hintForChange({ ...change, type: 'ADDED' });
    expect(hint?.preview).toEqual({ 'spec.tableName': 'orders', 'spec.awsRegion': 'us-east-1' });
    expect(hintForChange({ ...change, type: 'DELETED' })?.preview).toBeUndefined();
  });

  test('leaves the longest hint that there can be under 2 KB', () => {
    const { hintForChange } = createKindSource('c'.repeat(100), ddbctldpjob);
    const identity = {
      namespace: 'n'.repeat(63),
      name: 'a'.repeat(253),
      uid: 'u'.repeat(36),
      generation: 1e9,
      resourceVersion: '1'.repeat(20),
    };
    const place = { tableName: 't'.repeat(255), endpointURL: `https://${'h'.repeat(253)}:65535` };
    const ddbCtlDpJob = { ...place, awsRegion: 'r'.repeat(63) };
    const object = { metadata: identity, spec: { awsRegion: 'us-east-1', ddbCtlDpJob } };
    const hint = hintForChange({ type: 'ADDED', identity, object });
    expect(Object.keys(hint?.preview ?? {})).toHaveLength(4);
    expect(JSON.stringify(hint).length).toBeLessThan(2_048);
  });

  test('leaves out what is not a short text', () => {
    const spec = { tableName: ['t'], awsRegion: 'x'.repeat(301), endpointURL: 'http://h' };
    const fields = previewOf({ spec }, ddbctldpjob.preview ?? []);
    expect(fields).toEqual({ 'spec.endpointURL': 'http://h' });
  });

  test('is read from any message, whatever it holds', () => {
    const property = fc.property(fc.anything(), (value) => {
      const texts = Object.values(readPreview(value));
      expect(texts.every((text) => typeof text === 'string' && text.length <= 300)).toBe(true);
      previewOf(value, ['spec.a', 'b']);
    });
    fc.assert(property);
  });
});
