/** A whole line, or the size of one that was too long to keep. */
export type Line = { readonly text: string } | { readonly oversizedBytes: number };

export interface LineSplitter {
  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): Line[];
  /** Bytes of a line whose end has not come; more than 0 when a stream is over means it was cut. */
  readonly pendingBytes: number;
}

const NEWLINE = 0x0a;

/**
 * Splits bytes, not characters, so a chunk may end anywhere. A line over the cap is dropped while it arrives and never
 * held in memory as a whole.
 */
export function createLineSplitter(maxLineBytes: number): LineSplitter {
  let pieces: Uint8Array[] = [];
  let pendingBytes = 0;

  const add = (piece: Uint8Array) => {
    pendingBytes += piece.length;
    if (pendingBytes > maxLineBytes) pieces = [];
    else pieces.push(piece);
  };
  const take = (): Line => {
    const line: Line =
      pendingBytes > maxLineBytes
        ? { oversizedBytes: pendingBytes }
        : { text: Buffer.concat(pieces).toString('utf8') };
    pieces = [];
    pendingBytes = 0;
    return line;
  };

  return {
    push(chunk) {
      const lines: Line[] = [];
      let start = 0;
      for (;;) {
        const end = chunk.indexOf(NEWLINE, start);
        add(chunk.subarray(start, end === -1 ? chunk.length : end));
        if (end === -1) return lines;
        lines.push(take());
        start = end + 1;
      }
    },
    get pendingBytes() {
      return pendingBytes;
    },
  };
}
