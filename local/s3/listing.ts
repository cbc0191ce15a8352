import type { StoredObject } from './bucket-folder.ts';
import type { XmlNode } from './xml.ts';

/** The answer of ListObjectsV2, always on one page. */
export function listing(
  bucket: string,
  query: URLSearchParams,
  objects: readonly StoredObject[],
): XmlNode {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const groupOf = ({ key }: StoredObject): string | undefined => {
    const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
    return end === -1 ? undefined : key.slice(0, end + delimiter.length);
  };
  const groups = [...new Set(objects.flatMap((object) => groupOf(object) ?? []))];
  const single = objects.filter((object) => groupOf(object) === undefined);
  return [
    'ListBucketResult',
    [
      ['Name', bucket],
      ['Prefix', prefix],
      ['KeyCount', single.length + groups.length],
      ['MaxKeys', 1000],
      ['IsTruncated', false],
      ...single.map(entry),
      ...groups.map((group): XmlNode => ['CommonPrefixes', [['Prefix', group]]]),
    ],
  ];
}

const entry = ({ key, size, modified, etag }: StoredObject): XmlNode => [
  'Contents',
  [
    ['Key', key],
    ['LastModified', modified.toISOString()],
    ['ETag', etag],
    ['Size', size],
    ['StorageClass', 'STANDARD'],
  ],
];
