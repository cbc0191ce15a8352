import { isRecord } from '../untrusted.ts';

/**
 * Whether the API server may have dropped a field with this value. It leaves out most of what is empty, false or zero; a
 * list of all fields it does that to would be long, the list of those where it matters is short.
 */
export const isSameAsAbsent = (value: unknown, path: string): boolean =>
  isZero(value) && !absenceMatters.test(path);

const isZero = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  value === false ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isZero));

/** Contents that are kept as they are, and fields whose absence means something else than zero. */
const absenceMatters = new RegExp(
  `^(data|binaryData|metadata\\.(labels|annotations))\\.|\\.(${[
    'emptyDir',
    'podSelector',
    'namespaceSelector',
    'automountServiceAccountToken',
    'hostUsers',
    'allowPrivilegeEscalation',
    'readOnlyRootFilesystem',
    'runAsNonRoot',
    'runAsUser',
    'runAsGroup',
    'fsGroup',
    'ttlSecondsAfterFinished',
    'tolerationSeconds',
    'minAvailable',
    'maxUnavailable',
  ].join('|')})$`,
);
