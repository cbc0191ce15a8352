/** As many times may a part be repeated in the API server's regular expressions. */
const MAX_REPEATS = 1000;

/**
 * Whether a regular expression of JavaScript is one of RE2 too, and means the same: without looking ahead or behind, without
 * references to groups. In doubt it is not: a CRD with a pattern it cannot read is refused as a whole.
 */
export function isRe2(pattern: string): boolean {
  try {
    new RegExp(pattern);
  } catch {
    return false;
  }
  // Escaped letters and digits that both know; escaped signs are themselves.
  const plain = pattern.replaceAll(/\\([dDwWsSbBtnrfv]|x[0-9A-Fa-f]{2}|[^A-Za-z0-9])/g, 'a');
  if (plain.includes('\\') || /\[[^\]]*\\b/.test(pattern)) return false;
  if (/\(\?(?!:)/.test(plain) || /\[\^?\]/.test(plain)) return false;
  const repeats = [...plain.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) =>
    Math.max(1, Number(least), Number(most || 0)),
  );
  const isNested = plain.includes('){');
  const times = isNested ? repeats.reduce((all, count) => all * count, 1) : Math.max(1, ...repeats);
  return times <= MAX_REPEATS;
}
