import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { noSuchBucket, noSuchKey, S3Error } from './s3-error.ts';

export interface StoredObject {
  readonly key: string;
  readonly size: number;
  readonly modified: Date;
  /** In quotes, as S3 has it: the MD5 of the content. */
  readonly etag: string;
}

export interface StoredBucket {
  readonly name: string;
  readonly created: Date;
}

export interface StoredContent extends StoredObject {
  readonly content: Buffer;
}

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Of files that are being written; no key begins like this. */
const PARTIAL = '.partial-';

/** Buckets as folders, objects as files in them. Files put there by hand are objects, too. */
export function createBuckets(root: string) {
  const folderOf = (bucket: string): string => {
    if (!BUCKET_NAME.test(bucket) || bucket.includes('..')) throw noSuchBucket();
    return join(root, bucket);
  };
  const existing = async (bucket: string): Promise<string> => {
    const folder = folderOf(bucket);
    const found = await stat(folder).catch(() => undefined);
    if (!found?.isDirectory()) throw noSuchBucket();
    return folder;
  };
  const fileOf = async (bucket: string, key: string): Promise<string> =>
    join(await existing(bucket), ...partsOf(key));

  const read = async (bucket: string, key: string): Promise<StoredContent> => {
    const file = await fileOf(bucket, key);
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) throw noSuchKey();
    const content = await readFile(file);
    return { key, content, size: content.length, modified: found.mtime, etag: etagOf(content) };
  };

  return {
    read,
    exists: existing,
    create: async (bucket: string): Promise<void> => {
      if (!BUCKET_NAME.test(bucket)) {
        throw new S3Error(400, 'InvalidBucketName', 'The specified bucket is not valid.');
      }
      await mkdir(folderOf(bucket), { recursive: true });
    },
    all: async (): Promise<readonly StoredBucket[]> => {
      const found = await readdir(root, { withFileTypes: true });
      const folders = found.filter((entry) => entry.isDirectory() && BUCKET_NAME.test(entry.name));
      const names = folders.map(({ name }) => name).toSorted();
      return Promise.all(
        names.map(async (name) => ({ name, created: (await stat(join(root, name))).birthtime })),
      );
    },
    /** Whoever reads sees the old content or the new one, never a half. */
    write: async (bucket: string, key: string, content: Buffer): Promise<string> => {
      const file = await fileOf(bucket, key);
      const partial = join(dirname(file), `${PARTIAL}${randomUUID()}`);
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(partial, content);
        await rename(partial, file);
      } catch {
        await rm(partial, { force: true });
        throw new S3Error(
          409,
          'InvalidRequest',
          'The key is below or above that of another object.',
        );
      }
      return etagOf(content);
    },
    remove: async (bucket: string, key: string): Promise<void> => {
      await rm(await fileOf(bucket, key), { force: true }).catch(() => undefined);
    },
    /** All of them, in the order of their keys. */
    list: async (bucket: string, prefix: string): Promise<readonly StoredObject[]> => {
      const folder = await existing(bucket);
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const keys = found
        .filter((entry) => entry.isFile() && !entry.name.startsWith(PARTIAL))
        .map(({ parentPath, name }) =>
          relative(folder, join(parentPath, name)).replaceAll(sep, '/'),
        )
        .filter((key) => key.startsWith(prefix))
        .toSorted();
      return Promise.all(keys.map((key) => read(bucket, key)));
    },
  };
}

export type Buckets = ReturnType<typeof createBuckets>;

const etagOf = (content: Buffer): string => `"${createHash('md5').update(content).digest('hex')}"`;

/** S3 takes any text for a key; here it is a path that stays in its bucket. */
function partsOf(key: string): readonly string[] {
  const parts = key.split('/');
  const plain = parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && !part.startsWith(PARTIAL),
  );
  if (plain && !/[\\\0]/.test(key) && Buffer.byteLength(key) <= 1024) return parts;
  throw new S3Error(400, 'InvalidArgument', 'The key must be a plain relative path.');
}
