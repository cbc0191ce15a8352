import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { valuesOf } from '../../functions/helm/values.ts';
import type { Watch } from '../../functions/helm/watch.ts';
import { isRecord } from '../../runtime/untrusted.ts';
import { readChartFiles } from './chart-files.ts';
import { chartStatus } from './chart-status.ts';
import { type StructuralSchema, structuralSchemaOf } from './structural-schema.ts';

/** `kubectl apply` keeps the whole object in an annotation, which has a limit of 256 KB. */
const MAX_SCHEMA_BYTES = 150_000;

/** The CRD of a kind that is backed by a chart, as YAML. */
export async function chartCrd(watch: Watch, root: string): Promise<string> {
  const { group, version, kind, plural } = watch;
  const spec = await specOf(watch, root);
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: chartStatus.columns,
          schema: { openAPIV3Schema: objectSchema(kind, spec) },
        },
      ],
    },
  };
  return stringify(crd, { lineWidth: 0, aliasDuplicateObjects: false });
}

const objectSchema = (kind: string, spec: StructuralSchema): object => ({
  description: `${kind}: a release of a Helm chart.`,
  type: 'object',
  // Only if something in it is.
  ...(spec['required'] !== undefined && { required: ['spec'] }),
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: { description: 'The values of the chart.', ...spec },
    status: chartStatus.schema,
  },
});

async function specOf(watch: Watch, root: string): Promise<StructuralSchema> {
  const { chart } = watch;
  const { valuesSchema, values } = await readChartFiles(join(root, chart));
  if (valuesSchema === undefined) return structuralSchemaOf(true, { defaults: undefined });
  const schema = parsed(valuesSchema, `${chart}: values.schema.json`, JSON.parse);
  const own = parsed(values ?? '', `${chart}: values.yaml`, parse);
  // What watches.yaml sets need not be in the spec either.
  const options = { defaults: valuesOf(isRecord(own) ? own : {}, watch) };
  const [fitting] = [
    structuralSchemaOf(schema, options),
    structuralSchemaOf(schema, { ...options, descriptions: false }),
  ].filter((spec) => JSON.stringify(spec).length <= MAX_SCHEMA_BYTES);
  return fitting ?? structuralSchemaOf(true, options);
}

function parsed(text: string, name: string, read: (text: string) => unknown): unknown {
  try {
    return read(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} cannot be read: ${reason}`, { cause: error });
  }
}
