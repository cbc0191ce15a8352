/** Where a chart archive is. */
export interface ChartLocation {
  readonly bucket: string;
  readonly key: string;
}

export interface ChartRequest extends ChartLocation {
  /** Of the archive that is here already. */
  readonly knownEtag?: string | undefined;
}

export interface ChartArchive {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string;
}

/** The archives of charts. */
export interface ChartStore {
  /**
   * The archive, or 'unchanged' if it is still the known one. Throws an OperatorError: `ChartNotFound`, `ChartStoreUnavailable`,
   * or `InvalidChart` for one that is too large, of which no more is read than shows that.
   */
  fetch(request: ChartRequest, signal?: AbortSignal): Promise<ChartArchive | 'unchanged'>;
}

/** As people write it. */
export const locationText = ({ bucket, key }: ChartLocation): string => `s3://${bucket}/${key}`;
