import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDbServer } from '../local/dynamodb/server.ts';
import { type BenchProxy, startProxy } from './proxy/start.ts';
import { directClient } from './table.ts';

/** A DynamoDB with the proxy in front of it. */
export interface Engine {
  readonly proxy: BenchProxy;
  /** Past the proxy. */
  readonly client: DynamoDBClient;
  stop(): Promise<void>;
}

export async function startEngine(startServer: () => Promise<DynamoDbServer>): Promise<Engine> {
  const server = await startServer();
  const proxy = await startProxy(server.url);
  const client = directClient(server.url);
  return {
    proxy,
    client,
    async stop() {
      client.destroy();
      await proxy.stop();
      await server.stop();
    },
  };
}
