import { PolicyDocument, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IDependable } from 'constructs';
import type { OperatorFunction } from './function.ts';
import { servicePrincipal } from './service-principal.ts';

const GROUP = 'podless';
const MAX_RETRIES = 10;
/** Scheduler keeps nothing longer. */
const MAX_EVENT_AGE_SECONDS = 86_400;

export interface SchedulesProps {
  /** Gets what could not be started. */
  readonly deadLetters: Queue;
}

export interface ScheduleProps {
  readonly name: string;
  readonly everySeconds: number;
  readonly target: OperatorFunction;
  readonly role: Role;
  readonly input: Readonly<Record<string, string | number>>;
  /** What must be there before the first run. */
  readonly after: readonly IDependable[];
}

/** The group all schedules are in: one place to see, and to alarm on, what should start and did not. */
export class Schedules extends Construct {
  readonly groupName = GROUP;
  private readonly group: CfnScheduleGroup;
  private readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { deadLetters }: SchedulesProps) {
    super(scope, id);
    this.deadLetters = deadLetters;
    this.group = new CfnScheduleGroup(this, 'Group', { name: GROUP });
  }

  /** A role with which schedules of this group start one function, and nothing else. */
  roleFor(target: OperatorFunction): Role {
    return new Role(target, 'ScheduleRole', {
      description: `Lets schedules start ${target.functionName}`,
      assumedBy: servicePrincipal('scheduler', this.group.attrArn),
      inlinePolicies: {
        Start: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['lambda:InvokeFunction'],
              resources: [target.function.functionArn],
            }),
            new PolicyStatement({
              actions: ['sqs:SendMessage'],
              resources: [this.deadLetters.queueArn],
            }),
          ],
        }),
      },
    });
  }

  add(scope: Construct, id: string, props: ScheduleProps): void {
    const schedule = new CfnSchedule(scope, id, {
      name: props.name,
      groupName: this.group.ref,
      scheduleExpression: rateOf(props.everySeconds),
      flexibleTimeWindow: { mode: 'OFF' },
      state: 'ENABLED',
      target: {
        arn: props.target.function.functionArn,
        roleArn: props.role.roleArn,
        input: JSON.stringify(props.input),
        deadLetterConfig: { arn: this.deadLetters.queueArn },
        // Later than that the next run is due anyway.
        retryPolicy: {
          maximumEventAgeInSeconds: Math.min(props.everySeconds, MAX_EVENT_AGE_SECONDS),
          maximumRetryAttempts: MAX_RETRIES,
        },
      },
    });
    schedule.node.addDependency(...props.after);
  }
}

/** Scheduler counts in minutes. */
export function rateOf(seconds: number): string {
  if (!Number.isInteger(seconds / 60) || seconds < 60) {
    throw new Error(`a schedule's period must be whole minutes, got ${seconds} seconds`);
  }
  return `rate(${seconds / 60} minutes)`;
}
