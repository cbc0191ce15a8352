import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { CursorStore } from '../cloud.ts';
import { attempted, type Patience } from './attempts.ts';
import { called } from './call-error.ts';
import { clientOptions } from './client-options.ts';

export interface CursorStoreOptions extends Pick<Patience, 'clock' | 'random'> {
  readonly table: string;
  readonly client: DynamoDBClient;
}

/** The watch waits two seconds for its store: time for a second try if the first was lost on a stale connection. */
const PATIENCE = { attempts: 2, milliseconds: 1_000 } as const;
const REQUEST_MILLISECONDS = 900;

export interface CursorSite extends Omit<CursorStoreOptions, 'client'> {
  readonly region: string;
}

/** The cursors of a region. */
export function openCursorStore({ region, ...options }: CursorSite): CursorStore {
  const site = clientOptions({ region, requestMilliseconds: REQUEST_MILLISECONDS });
  return createCursorStore({ ...options, client: new DynamoDBClient(site) });
}

/**
 * One item a cursor. Two shifts that overlap write the same one, and the last write stays, even if its position is the
 * older one: up to each of them the bus has everything, so going back repeats hints and loses none. To write only a
 * position that grows would be worse: a cluster restored from a backup counts from further down, and nothing could be
 * stored for it.
 */
export function createCursorStore({ table, client, ...time }: CursorStoreOptions): CursorStore {
  const site = { TableName: table };
  const keyOf = (key: string) => ({ id: { S: key } });
  const call = <T>(operation: string, send: () => Promise<T>): Promise<T> =>
    attempted(() => called(`${operation} on table "${table}"`, send), { ...PATIENCE, ...time });
  return {
    async read(key) {
      // Consistent: the shift before may have stored it a moment ago.
      const command = new GetItemCommand({ ...site, Key: keyOf(key), ConsistentRead: true });
      const { Item } = await call('GetItem', () => client.send(command));
      return Item?.['resourceVersion']?.S;
    },
    async write(key, resourceVersion) {
      const Item = { ...keyOf(key), resourceVersion: { S: resourceVersion } };
      await call('PutItem', () => client.send(new PutItemCommand({ ...site, Item })));
    },
    async clear(key) {
      await call('DeleteItem', () =>
        client.send(new DeleteItemCommand({ ...site, Key: keyOf(key) })),
      );
    },
  };
}
