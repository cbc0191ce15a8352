/** What the deletion of a partition needs from DynamoDB. `dynamo.ts` implements it; tests have it in memory. */
export interface PartitionTable {
  /** Throws an OperatorError if the table cannot be used: missing, not ready, denied, out of reach. */
  describe(signal: AbortSignal): Promise<TableKeys>;
  /** One partition of the table; no call on it can touch an item of another. */
  partition(keys: TableKeys, value: KeyValue): Partition;
}

/** Every method throws a `TableFault` where sending again may help, and an OperatorError where it does not. */
export interface Partition {
  page(query: PageQuery): Promise<KeyPage>;
  count(query: PageQuery): Promise<CountPage>;
  /** At most `MAX_BATCH` keys, all different. Deleting what is gone already is not an error. */
  deleteKeys(keys: readonly ItemKey[], signal: AbortSignal): Promise<BatchReply>;
  /** Only where the table has no sort key: a partition is then one item or none. */
  deleteOnlyItem?(signal: AbortSignal): Promise<ItemReply>;
}

export type KeyType = 'S' | 'N' | 'B';

/** A key attribute's value in DynamoDB's own notation. */
export type KeyValue = { readonly S: string } | { readonly N: string } | { readonly B: Uint8Array };

/** Names an item within its partition: its sort key, or the partition key where the table has no sort key. */
export type ItemKey = KeyValue;

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

export interface TableKeys {
  readonly partitionKey: KeyAttribute;
  readonly sortKey?: KeyAttribute;
  readonly status: string;
}

export interface PageQuery {
  /** Only keys after this one, such as where the page before ended. There need not be an item of this key. */
  readonly after?: ItemKey | undefined;
  /** Only keys up to this one, itself included. */
  readonly upTo?: ItemKey | undefined;
  /** From the last key to the first. Default false. */
  readonly backward?: boolean | undefined;
  /**
   * Sees every write that was acknowledged before, for twice the price. Default false: what was deleted a moment ago may
   * still be seen.
   */
  readonly consistent?: boolean | undefined;
  /** Default: as many as 1 MB of items. */
  readonly limit?: number | undefined;
  readonly signal: AbortSignal;
}

export interface KeyPage {
  readonly keys: readonly ItemKey[];
  /** Set if there may be more. */
  readonly next?: ItemKey;
  readonly readUnits: number;
}

export interface CountPage extends Omit<KeyPage, 'keys'> {
  readonly count: number;
}

export interface BatchReply {
  /** Not deleted, because of throttling. */
  readonly unprocessed: readonly ItemKey[];
  readonly writeUnits: number;
}

export interface ItemReply {
  /** False if there was none. */
  readonly existed: boolean;
  readonly writeUnits: number;
}

/** BatchWriteItem takes no more. */
export const MAX_BATCH = 25;

export type FaultKind =
  /** DynamoDB is there and asks for patience. */
  | 'throttled'
  /** It answered that it could not. */
  | 'serverError'
  /** No answer: refused, reset, timed out, unknown host. */
  | 'unreachable';

/** Whose limit was met, as far as DynamoDB says. */
export interface Throttle {
  readonly by: 'keyRange' | 'table' | 'index' | 'account';
  /** In DynamoDB's words, with the name of the index: for people. */
  readonly detail: string;
}

/** A call that failed in a way that may pass. */
export class TableFault extends Error {
  override readonly name = 'TableFault';
  readonly kind: FaultKind;
  /** False if it is certain that the call had no effect: a lost reply may well belong to a call that was carried out. */
  readonly mayHaveApplied: boolean;
  readonly throttle: Throttle | undefined;

  constructor(kind: FaultKind, message: string, mayHaveApplied: boolean, throttle?: Throttle) {
    super(message);
    this.kind = kind;
    this.mayHaveApplied = mayHaveApplied;
    this.throttle = throttle;
  }
}
