import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JSONSchema } from 'json-schema-to-typescript';
import { parse } from 'yaml';
import { codeOf, type Operator } from '../../runtime/operator.ts';
import { crdPathOf } from './charts.ts';
import { notice, type Output } from './output.ts';

interface Crd {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: JSONSchema };
    }[];
  };
}

/** The TypeScript types of each kind, from its CRD. */
export async function generateTypes(
  root: string,
  operators: readonly Operator[],
  output: Output,
): Promise<void> {
  // The spec of a kind that is backed by a chart is the chart's values: nobody here reads it field by field.
  for (const operator of operators.filter(({ code }) => code !== 'helm')) {
    const path = `functions/${codeOf(operator)}/generated/${operator.kind.kind.toLowerCase()}.ts`;
    output.put(path, await typesOf(root, operator));
  }
}

async function typesOf(root: string, { kind }: Operator): Promise<string> {
  const file = crdPathOf(kind);
  const crd = parse(await readFile(join(root, file), 'utf8')) as Crd;
  const version = crd.spec.versions.find((candidate) => candidate.name === kind.version);
  if (!version) throw new Error(`${file} must serve version ${kind.version} of ${kind.kind}`);
  // Takes a second to load.
  const { compile } = await import('json-schema-to-typescript');
  return compile(version.schema.openAPIV3Schema, kind.kind, {
    additionalProperties: false,
    bannerComment: `// ${notice}`,
    style: { singleQuote: true, printWidth: 100 },
  });
}
