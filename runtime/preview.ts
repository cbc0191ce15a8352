import { fieldOf, isRecord } from './untrusted.ts';

/**
 * Fields that an object had when its hint was made, by their paths. Good for looking something up early, never for a
 * decision: the object that counts is the one that is read.
 */
export type Preview = Readonly<Record<string, string>>;

/** An event stays small. */
const MAX_FIELD_LENGTH = 300;

type Field = readonly [path: string, value: unknown];

/** @param paths such as `spec.tableName` */
export const previewOf = (object: unknown, paths: readonly string[]): Preview =>
  shortTexts(paths.map((path) => [path, path.split('.').reduce(fieldOf, object)]));

/** Of a message that may hold anything. */
export const readPreview = (value: unknown): Preview =>
  shortTexts(isRecord(value) ? Object.entries(value) : []);

const shortTexts = (fields: readonly Field[]): Preview =>
  Object.fromEntries(
    fields.filter(
      (field): field is readonly [string, string] =>
        typeof field[1] === 'string' && field[1] !== '' && field[1].length <= MAX_FIELD_LENGTH,
    ),
  );
