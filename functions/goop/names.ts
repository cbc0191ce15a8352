import { digestOf } from '../../runtime/children/child.ts';

/** The name of a Job is also the value of a label on its pods. */
const MAX_LENGTH = 63;
const HASH_LENGTH = 10;

export const workerName = (goop: string, index: number): string => fitted(goop, `-${index}`);

/** Of the DaemonSet, and of the label that its pods are selected by. */
export const nodeWorkersName = (goop: string): string => fitted(goop, '');

/** The whole name where it fits; else as much of it as there is room for, and a hash that keeps it apart from others. */
function fitted(name: string, suffix: string): string {
  if (name.length + suffix.length <= MAX_LENGTH) return name + suffix;
  const tail = `-${digestOf(name).slice(0, HASH_LENGTH)}${suffix}`;
  // A dot and a dash must not stand side by side.
  return name.slice(0, MAX_LENGTH - tail.length).replace(/[-.]+$/, '') + tail;
}
