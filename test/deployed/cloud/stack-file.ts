import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { JsonObject } from './template/json.ts';
import type { Place } from './template/physical-resource.ts';
import { createStack, type Stack } from './template/stack.ts';
import { parseTemplate } from './template/template.ts';

export interface StackFile {
  /** Path of `<stack>.template.json`, as `cdk synth` wrote it. */
  readonly template: string;
  /** Changes the template after it was read: to see that the test would notice. */
  readonly alter?: (template: JsonObject) => JsonObject;
}

/** The folder with the template's assets. */
export const assemblyFolderOf = ({ template }: StackFile): string => dirname(template);

/** Reads a synthesized template for a place. */
export function readStack(
  { template, alter = (json) => json }: StackFile,
  place: Omit<Place, 'stackName'>,
): Stack {
  const stackName = basename(template, '.template.json');
  const json = JSON.parse(readFileSync(template, 'utf8')) as JsonObject;
  return createStack(parseTemplate(alter(json)), { ...place, stackName });
}
