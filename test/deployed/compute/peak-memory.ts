import { readFileSync } from 'node:fs';

/**
 * The most memory that a process has held at once so far, or undefined where the system does not tell (only Linux does).
 * The peak and not the present: what was over the limit between two looks was over the limit.
 */
export function peakMegabytes(pid: number): number | undefined {
  try {
    const [, kilobytes] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
