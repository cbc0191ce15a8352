import type { App } from 'aws-cdk-lib';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { oneCluster, synthesize, twoClustersInVpc, withApp } from './synthesize.ts';
import { textOf } from './template-queries.ts';

/** Committed, so that a review sees what a change does on AWS. `vitest run --project synth -u` writes them. */
test.each([
  ['one-cluster', oneCluster],
  // Not all operators once more: what they have in common is seen above.
  ['two-clusters-in-vpc', { ...twoClustersInVpc, operators: 'ddbctldpjob,collector' }],
])('the template for %s is the one that was reviewed', async (name, values) => {
  const text = stringify(synthesize(values), { lineWidth: 0, aliasDuplicateObjects: false });
  const withoutHashes = text.replaceAll(/[0-9a-f]{64}\.zip/g, '<hash of the bundle>.zip');
  await expect(withoutHashes).toMatchFileSnapshot(`templates/${name}.yaml`);
});

test('a template that CloudFormation would refuse is refused before it is deployed', () => {
  const spoil = (app: App) => {
    const resource = app.node.findAll().find((one) => one instanceof CfnQueue);
    resource?.addPropertyOverride('VisibilityTimeout', 43_201);
    return app.synth();
  };
  expect(() => withApp(oneCluster, spoil)).toThrow('43201 is greater than the maximum');
});

test('the outputs are the commands to type next', () => {
  const { Outputs } = synthesize(oneCluster);
  expect(
    Object.fromEntries(Object.entries(Outputs).map(([id, { Value }]) => [id, textOf(Value)])),
  ).toEqual({
    Next1Kinds:
      'aws eks update-kubeconfig --region <AWS::Region> --name prod && kubectl apply -k crds',
    Next2Sample: 'kubectl apply -f crds/samples/ddbctldpjob.yaml',
    Next3Invoke:
      'aws lambda invoke --function-name podless-ddbctldpjob --payload \'{"namespace":"default","name":"ddbctldpjob-sample"}\' --cli-binary-format raw-in-base64-out out.json --region <AWS::Region> --cli-read-timeout 0',
  });
});
