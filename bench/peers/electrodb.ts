import { PARTITION_KEY, SORT_KEY, TARGET } from '../items.ts';
import { documentClient } from './document-client.ts';
import { loadPeer } from './load.ts';
import { serve } from './serve.ts';

type ItemKeys = Readonly<Record<string, string>>;

/** As much of its interface as is used here. */
interface ElectroDb {
  readonly Entity: new (model: object, options: object) => ElectroEntity;
}

interface ElectroEntity {
  readonly query: {
    readonly items: (key: ItemKeys) => {
      go(options: object): Promise<{ readonly data: readonly ItemKeys[] }>;
    };
  };
  delete(keys: readonly ItemKeys[]): {
    go(options: object): Promise<{ readonly unprocessed: readonly ItemKeys[] }>;
  };
}

const { Entity } = loadPeer<ElectroDb>('electrodb');

const keyAttribute = { type: 'string', required: true };
const model = {
  model: { entity: 'item', version: '1', service: 'bench' },
  attributes: { [PARTITION_KEY]: keyAttribute, [SORT_KEY]: keyAttribute },
  indexes: {
    items: {
      pk: { field: PARTITION_KEY, composite: [PARTITION_KEY], casing: 'none' },
      sk: { field: SORT_KEY, composite: [SORT_KEY], casing: 'none' },
    },
  },
};

/** It deletes the keys it is given, so it reads them all first, by its own query; then as many batches at once as we have. */
await serve(async ({ endpoint, tableName, inFlight }) => {
  const client = documentClient(endpoint);
  const entity = new Entity(model, { client, table: tableName });
  const { data } = await entity.query.items({ [PARTITION_KEY]: TARGET }).go({
    pages: 'all',
    attributes: [PARTITION_KEY, SORT_KEY],
    // The items were not written by it.
    ignoreOwnership: true,
  });
  let left = data;
  while (left.length > 0)
    ({ unprocessed: left } = await entity.delete(left).go({ concurrent: inFlight }));
  client.destroy();
  return { deleted: data.length, finished: true };
});
