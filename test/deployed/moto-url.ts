import { inject } from 'vitest';

/** The moto of this worker, emptied at each deployment; '' where it cannot run. */
export function motoUrl(): string {
  const urls = inject('motoUrls');
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 1);
  return urls[worker % Math.max(urls.length, 1)] ?? '';
}
