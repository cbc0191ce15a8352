/** Line breaks, which `base64` writes after every 76 characters, and nothing else, may stand between. */
const LINE_BREAKS = /\r?\n/g;
const CANONICAL = /^(?:[\d+/A-Za-z]{4})*(?:[\d+/A-Za-z]{2}==|[\d+/A-Za-z]{3}=)?$/;

export type Decoded =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: 'too long' | 'not base64' };

/** Strict: one alphabet, full padding, no spare bits. Nothing is decoded that would be more than `maxBytes`. */
export function decodeBase64(text: string, maxBytes: number): Decoded {
  const maxCharacters = Math.ceil(maxBytes / 3) * 4;
  // As many line breaks as characters: whoever needs more does not mean it well.
  if (text.length > 2 * maxCharacters) return { ok: false, problem: 'too long' };
  const joined = text.replace(LINE_BREAKS, '');
  if (joined.length > maxCharacters) return { ok: false, problem: 'too long' };
  if (!CANONICAL.test(joined)) return { ok: false, problem: 'not base64' };
  const bytes = Buffer.from(joined, 'base64');
  if (bytes.length > maxBytes) return { ok: false, problem: 'too long' };
  return bytes.toString('base64') === joined
    ? { ok: true, bytes }
    : { ok: false, problem: 'not base64' };
}
