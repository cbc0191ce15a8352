import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { operators as shippedOperators } from '../../functions/operators.ts';
import { bundleNamesOf } from '../../infra/bundle.ts';
import { parseContext } from '../../infra/context.ts';
import { describeProblems } from '../../infra/context-message.ts';
import { PodlessStack } from '../../infra/podless-stack.ts';
import type { Operator } from '../../runtime/operator.ts';

export interface TemplateResource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
}

/** The parts of a CloudFormation template that tests look at. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

export type ContextValues = Readonly<Record<string, string>>;

const root = join(import.meta.dirname, '..', '..');

/** `-c` values of the smallest deployment. */
export const oneCluster = { clusters: 'prod', tables: 'orders,sessions-*' } as const;

/** Everything that can be switched on. */
export const twoClustersInVpc = {
  clusters: 'prod,staging',
  tables: 'orders',
  regions: 'eu-west-1,eu-central-1',
  vpcId: 'vpc-0a1b2c3d',
  subnetIds: 'subnet-0a1b2c3d,subnet-4e5f6a7b',
  routeTableIds: 'rtb-0a1b2c3d',
  endpoints: 'https://dynamodb.internal.example:8000',
  developmentBucket: 'acme-charts-dev',
  productionBucket: 'acme-charts',
  chartBucketAccount: '444455556666',
  tenantNamespaces: 'tenant-*,acme',
  logRetentionDays: '90',
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
} as const;

/** The template as `cdk synth` makes it from these `-c` values, but for what is in the bundles. */
export const synthesize = (values: ContextValues, operators?: readonly Operator[]): Template =>
  withApp(values, (app) => app.synth().getStackByName('Podless').template as Template, operators);

/** Shows the app before it is synthesized. Its bundles are empty: what is in them is another test's matter. */
export function withApp<T>(
  values: ContextValues,
  use: (app: App) => T,
  operators: readonly Operator[] = shippedOperators,
): T {
  const parsed = parseContext(values, operators);
  if ('problems' in parsed) throw new Error(describeProblems(parsed.problems));
  const folder = mkdtempSync(join(tmpdir(), 'podless-synth-'));
  try {
    const bundleFolder = join(folder, 'bundles');
    for (const name of bundleNamesOf(parsed.settings.operators)) {
      mkdirSync(join(bundleFolder, name), { recursive: true });
      writeFileSync(join(bundleFolder, name, 'index.mjs'), `// ${name}\n`);
    }
    const context = { ...flags(), ...withoutCopies, ...values };
    const app = new App({ outdir: join(folder, 'cdk.out'), context });
    new PodlessStack(app, 'Podless', { settings: parsed.settings, bundleFolder });
    return use(app);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A template does not depend on whether its assets are copied, and the layer is large. */
const withoutCopies = { 'aws:cdk:disable-asset-staging': true };

/** Feature flags change templates, so tests use those that `cdk` reads. */
function flags(): Readonly<Record<string, unknown>> {
  const text = readFileSync(join(root, 'cdk.json'), 'utf8');
  return (JSON.parse(text) as { readonly context: Record<string, unknown> }).context;
}
