export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** A value as text: a list or an object as JSON, nothing as ''. */
export const asText = (value: Json | undefined): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value ?? '');
