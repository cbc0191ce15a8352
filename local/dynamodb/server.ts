/** A DynamoDB on this machine; its tables live in memory and go with it. */
export interface DynamoDbServer {
  /** `http://127.0.0.1:<port>`; any credentials will do. */
  readonly url: string;
  /** Resolves, never rejects, with the reason if the server ends by itself. */
  readonly failed: Promise<string>;
  /** Safe to repeat. */
  stop(): Promise<void>;
}
