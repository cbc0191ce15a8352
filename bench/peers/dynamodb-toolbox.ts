import { ENTITY, PARTITION_KEY, SORT_KEY, TARGET } from '../items.ts';
import { documentClient } from './document-client.ts';
import { loadPeer } from './load.ts';
import { serve } from './serve.ts';

/** As much of its interface as is used here. */
interface Toolbox {
  readonly Table: new (options: object) => ToolboxTable;
  readonly Entity: new (options: object) => object;
  readonly item: (attributes: object) => object;
  readonly string: () => { key(): object };
  readonly DeletePartitionCommand: unknown;
}

interface ToolboxTable {
  build(command: unknown): DeletePartition;
}

interface DeletePartition {
  entities(...entities: readonly object[]): DeletePartition;
  query(query: object): DeletePartition;
  send(): Promise<{ readonly Count?: number }>;
}

const toolbox = loadPeer<Toolbox>('dynamodb-toolbox');

/** Its own command for a whole partition. */
await serve(async ({ endpoint, tableName }) => {
  const { Table, Entity, item, string, DeletePartitionCommand } = toolbox;
  const client = documentClient(endpoint);
  const table = new Table({
    name: tableName,
    documentClient: client,
    partitionKey: { name: PARTITION_KEY, type: 'string' },
    sortKey: { name: SORT_KEY, type: 'string' },
    entityAttributeSavedAs: ENTITY.attribute,
  });
  const entity = new Entity({
    name: ENTITY.value,
    table,
    schema: item({ [PARTITION_KEY]: string().key(), [SORT_KEY]: string().key() }),
    timestamps: false,
  });
  const command = table.build(DeletePartitionCommand).entities(entity).query({ partition: TARGET });
  const { Count } = await command.send();
  client.destroy();
  return { ...(Count !== undefined && { deleted: Count }), finished: true };
});
