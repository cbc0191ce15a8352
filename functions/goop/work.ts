import { nodeWorkersName } from './names.ts';

const IMAGE = 'busybox:latest';

/** On what belongs to one Goop, and on its pods. */
export const LABEL_GOOP = 'goop.example.com/name';

export const labelsOf = (goop: string): Readonly<Record<string, string>> => ({
  [LABEL_GOOP]: nodeWorkersName(goop),
});

/**
 * Prints one line. `foo` is whatever somebody wrote: it is an argument of the program, never part of a script, and its dollar
 * signs are doubled, since Kubernetes would put variables in their place.
 *
 * @param who may name such variables
 */
export const printing = (who: string, foo: string) => ({
  name: 'worker',
  image: IMAGE,
  command: ['printf', '%s\\n', `${who}: ${foo.replaceAll('$', () => '$$')}`],
});

/** Does nothing for 68 years. */
export const pausing = { name: 'pause', image: IMAGE, command: ['sleep', '2147483647'] };

/** Workers print; they have no business with the cluster. */
export const apart = { automountServiceAccountToken: false, enableServiceLinks: false };
