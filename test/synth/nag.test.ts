import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, test } from 'vitest';
import { oneCluster, twoClustersInVpc, withApp } from './synthesize.ts';

const variants = [
  ['one cluster', oneCluster],
  ['two clusters in a VPC', twoClustersInVpc],
  ['tables by pattern in two regions', { ...twoClustersInVpc, tables: 'orders,sessions-*' }],
] as const;

describe.each(variants)('AWS Solutions rules, %s', (_, values) => {
  const { open, found, answers } = withApp(values, (app) => ({
    open: findings(new AwsSolutionsChecks(app), app),
    found: findings(unforgiving(app), app),
    answers: answersIn(app),
  }));

  test('find nothing that is not answered', () => {
    expect(open).toEqual([]);
  });

  test('are answered only where they find something, and with a reason', () => {
    expect(answers.map(({ rule }) => rule).sort()).toEqual([...found].sort());
    for (const { reason } of answers) expect(reason.length).toBeGreaterThan(60);
  });
});

interface Answer {
  readonly rule: string;
  readonly reason: string;
}

/** A rule once for each resource that breaks it. */
const findings = (pack: AwsSolutionsChecks, app: App): readonly string[] =>
  pack
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(() => ruleName),
    );

/** Takes no reason for an answer. */
const unforgiving = (app: App): AwsSolutionsChecks =>
  Object.assign(new AwsSolutionsChecks(app), { isAcknowledged: () => false });

const answersIn = (app: App): readonly Answer[] =>
  app.node
    .findAll()
    .flatMap(({ node }) => node.metadata)
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries(data as Readonly<Record<string, string>>))
    .map(([id, reason]) => ({ rule: id.replace(/^Annotation::/, ''), reason }))
    .filter(({ rule }) => rule.startsWith('AwsSolutions-'));
