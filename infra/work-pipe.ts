import { Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { CfnPipe } from 'aws-cdk-lib/aws-pipes';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Operator } from '../runtime/operator.ts';
import { nameOf } from './names.ts';
import { servicePrincipal } from './service-principal.ts';

export interface WorkPipeProps {
  readonly operator: Operator;
  readonly inbox: Queue;
  readonly work: Queue;
}

/** Moves hints from the inbox to the FIFO queue; group and deduplication id come from the hint itself. */
export class WorkPipe extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, { operator, inbox, work }: WorkPipeProps) {
    super(scope, id);
    this.name = nameOf(operator.name);
    // By name, since the Pipe refers to the role.
    const pipeArn = Stack.of(this).formatArn({
      service: 'pipes',
      resource: 'pipe',
      resourceName: this.name,
    });
    const role = new Role(this, 'Role', {
      description: `Lets the pipe ${this.name} move messages from the inbox to the work queue`,
      assumedBy: servicePrincipal('pipes', pipeArn),
      inlinePolicies: { Move: movePolicy(inbox, work) },
    });
    new CfnPipe(this, 'Pipe', {
      name: this.name,
      description: `Hints on ${operator.kind.kind}: inbox to work queue, one object a group`,
      roleArn: role.roleArn,
      desiredState: 'RUNNING',
      source: inbox.queueArn,
      // One at a time: a message without a group must cost only itself.
      sourceParameters: { sqsQueueParameters: { batchSize: 1 } },
      target: work.queueArn,
      targetParameters: {
        inputTemplate: '<$.body>',
        sqsQueueParameters: {
          messageGroupId: '$.body.group',
          messageDeduplicationId: '$.body.dedupId',
        },
      },
    });
  }
}

const movePolicy = (inbox: Queue, work: Queue): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
        resources: [inbox.queueArn],
      }),
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [work.queueArn] }),
    ],
  });
