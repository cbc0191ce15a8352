/** Of the name of a kind, in lower case: Minimart, minimarts; Proxy, proxies; Gateway, gateways; Box, boxes. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}
