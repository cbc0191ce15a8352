/** What a peer is asked to do, as one line of JSON on its standard input. */
export interface Job {
  readonly endpoint: string;
  readonly tableName: string;
  /** Batches at once, where the peer can be told. */
  readonly inFlight: number;
  /** Items in the partition: only the raw writer uses it, to know all keys. */
  readonly count: number;
  /** Only podless has one: the deletion is asked to stop after this long. */
  readonly deadlineMs?: number;
  /** Likewise: an earlier run has deleted from this partition. */
  readonly continued?: boolean;
}

/** What it did, as one line on its standard output. */
export interface JobResult {
  /** From the first request to the end; neither the start of the process nor the loading of modules. */
  readonly milliseconds: number;
  /** The peer's own count, where it has one. */
  readonly deleted?: number;
  /** Whether it claims that count to be exact. */
  readonly exact?: boolean;
  /** Whether it claims that the partition is empty. */
  readonly finished?: boolean;
  /** Why it gave up. */
  readonly failure?: string;
  /** The most memory its process has ever used, in bytes. */
  readonly peakRss?: number;
}

/** Its first line. */
export interface Ready {
  readonly ready: true;
}
