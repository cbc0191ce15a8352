import { startDynalite } from '../../local/dynamodb/dynalite.ts';
import { startDynamoDbLocal } from '../../local/dynamodb/dynamodb-local.ts';
import { findJavaTools } from '../../local/dynamodb/java.ts';
import { hasDynamoDbLocalJars } from '../../local/dynamodb/local-jars.ts';
import type { DynamoDbServer } from '../../local/dynamodb/server.ts';

export interface Engine {
  readonly name: string;
  /** Why it cannot run on this machine. */
  readonly missing?: string;
  start(): Promise<DynamoDbServer>;
}

const tools = await findJavaTools(process.env, !hasDynamoDbLocalJars(process.env));

/** Every DynamoDB that a contract is tested against. */
export const engines: readonly Engine[] = [
  { name: 'dynalite', start: () => startDynalite() },
  {
    name: tools.ok ? 'DynamoDB Local' : `DynamoDB Local (not tested: ${tools.missing} is missing)`,
    ...(tools.ok ? {} : { missing: tools.missing }),
    start: () => startDynamoDbLocal(),
  },
];
