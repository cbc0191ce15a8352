import type { Report } from '../control-plane/index.ts';
import { startDynalite } from './dynalite.ts';
import { startDynamoDbLocal } from './dynamodb-local.ts';
import type { DynamoDbServer } from './server.ts';

export { startDynalite } from './dynalite.ts';
export { startDynamoDbLocal } from './dynamodb-local.ts';
export type { DynamoDbServer } from './server.ts';

export interface StartOptions {
  readonly report?: Report;
  readonly signal?: AbortSignal;
}

/** @param engine dynalite, dynamodb-local, or the address of a DynamoDB that runs already */
export async function startDynamoDb(
  engine: string,
  options: StartOptions = {},
): Promise<DynamoDbServer> {
  if (engine === 'dynalite') return startDynalite();
  if (engine === 'dynamodb-local') return startDynamoDbLocal(options);
  if (/^https?:\/\//.test(engine) && URL.canParse(engine))
    return { url: engine, failed: new Promise(() => {}), stop: async () => {} };
  throw new Error(
    `--dynamodb must be dynalite, dynamodb-local or an http(s) address, got "${engine}"`,
  );
}
