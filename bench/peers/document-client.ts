import { loadPeer } from './load.ts';
import { plainClient } from './sdk.ts';

export interface DocumentClient {
  destroy(): void;
}

interface LibDynamoDb {
  readonly DynamoDBDocumentClient: { from(client: object): DocumentClient };
}

/** The client that both libraries want, over the plain one. */
export function documentClient(endpoint: string): DocumentClient {
  const { DynamoDBDocumentClient } = loadPeer<LibDynamoDb>('@aws-sdk/lib-dynamodb');
  return DynamoDBDocumentClient.from(plainClient(endpoint));
}
