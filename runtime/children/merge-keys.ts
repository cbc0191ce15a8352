/**
 * The lists of built-in kinds to which several may add items, by their place, and what tells their items apart: as
 * server-side apply merges them. Any other list belongs as a whole to whoever set it.
 */
const mergeKeys: readonly (readonly [place: RegExp, keys: readonly string[]])[] = [
  [
    /\.(containers|initContainers|ephemeralContainers|volumes|env|imagePullSecrets|resourceClaims)$/,
    ['name'],
  ],
  [/\.volumeMounts$/, ['mountPath']],
  [/\.volumeDevices$/, ['devicePath']],
  [/ontainers\[[^\]]*\]\.ports$/, ['containerPort', 'protocol']],
  // Of a Service.
  [/^spec\.ports$/, ['port', 'protocol']],
  [/\.hostAliases$/, ['ip']],
  [/\.topologySpreadConstraints$/, ['topologyKey', 'whenUnsatisfiable']],
  [/^metadata\.ownerReferences$/, ['uid']],
];

export const mergeKeysOf = (path: string): readonly string[] | undefined =>
  mergeKeys.find(([place]) => place.test(path))?.[1];
