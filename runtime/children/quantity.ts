const factors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Whether two texts mean the same amount (`0.5` and `500m`): the API server stores its own spelling. */
export function sameQuantity(one: unknown, other: unknown): boolean {
  const [a, b] = [amountOf(one), amountOf(other)];
  return a !== undefined && b !== undefined && Math.abs(a - b) <= Math.abs(a) * 1e-12;
}

/** Whether a field is an amount. Elsewhere `1` and `1.0` are two texts. */
export const holdsQuantity = (path: string): boolean =>
  /^spec\b.*\.(limits|requests|capacity|hard|sizeLimit|averageValue|divisor|target\.value)(\.|$)/.test(
    path,
  );

/** Digits, then a suffix or an exponent: `1E` is a suffix, `1E3` an exponent. */
const pattern = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

function amountOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const [, digits, exponent = '0', suffix = ''] = pattern.exec(value) ?? [];
  const factor = factors[suffix];
  return digits === undefined || factor === undefined
    ? undefined
    : Number(`${digits}e${exponent}`) * factor;
}
