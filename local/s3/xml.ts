/** A node: its name, and text or nodes inside. */
export type XmlNode = readonly [
  name: string,
  content: string | number | boolean | readonly XmlNode[],
];

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A document as S3 answers it. */
export const xmlDocument = ([name, content]: XmlNode): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="${NAMESPACE}">${inner(content)}</${name}>`;

const inner = (content: XmlNode[1]): string =>
  Array.isArray(content)
    ? content.map(([name, inside]) => `<${name}>${inner(inside)}</${name}>`).join('')
    : escaped(String(content));

const escaped = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
