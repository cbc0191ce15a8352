import { systemClock } from '../../../runtime/clock.ts';
import type { LogFields } from '../../../runtime/log.ts';
import type { AccessEntry } from '../cluster/access-entry.ts';
import type { Identify } from '../cluster/caller.ts';
import type { CarrierContext } from './carriers/carrier.ts';
import { createLambda, type Invoke } from './carriers/lambda.ts';
import { createSchedule, type DeployedSchedule } from './carriers/schedule.ts';
import { startCarriers } from './carriers/start.ts';
import { type Deployment, type DeploymentOptions, deploy } from './deployment.ts';
import type { Fault } from './front/faults.ts';
import { isExpired } from './front/identities.ts';
import type { DeployedFunction } from './provision/functions.ts';
import { createQueueView, type QueueView } from './queue-view.ts';
import type { RecordedCall } from './recording.ts';

export interface CloudOptions extends DeploymentOptions {
  /** Runs a function of the template; not called before `carry`. */
  readonly invoke: Invoke;
}

/** A synthesized template as running messaging: AWS as far as the template needs it, on this machine. */
export interface Cloud {
  /** Where AWS is: AWS_ENDPOINT_URL. */
  readonly frontUrl: string;
  readonly region: string;
  readonly functions: readonly DeployedFunction[];
  /** Of one cluster. */
  accessEntries(cluster: string): readonly AccessEntry[];
  /** Whose an access key is, for what EKS asks STS. */
  readonly identify: Identify;
  readonly schedules: readonly DeployedSchedule[];
  readonly outputs: Readonly<Record<string, string>>;
  /** By name; throws if the template has no such queue. */
  queue(name: string): QueueView;
  /** Lets rules, Pipes, event sources and schedules begin. Throws if one of them may not. */
  carry(): Promise<void>;
  /** Makes calls go wrong. `lambda: Invoke` is what a schedule does. */
  fault(fault: Fault): void;
  /** Every right that was asked for. */
  readonly calls: readonly RecordedCall[];
  /** `<principal>: <action> on <resource>` of what the template's roles may do, and of what they needed. */
  granted(): ReadonlySet<string>;
  used(): ReadonlySet<string>;
  /** What the harness could not do as AWS would: a test with any has shown nothing. */
  readonly gaps: readonly string[];
  /** What carriers could not do, which on AWS a metric would tell. */
  readonly reports: readonly LogFields[];
  stop(): Promise<void>;
}

/** Makes the template's resources; nothing moves before `carry`. */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const deployment = await deploy(options);
  const stopping = new AbortController();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await deployment.stop();
  };
  try {
    return { ...createCloud(deployment, options, stopping.signal), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createCloud(
  deployment: Deployment,
  options: CloudOptions,
  signal: AbortSignal,
): Omit<Cloud, 'stop'> {
  const { stack, functions, front } = deployment;
  const { authorizer } = deployment.account;
  const { faults } = front;
  const reports: LogFields[] = [];
  const context = contextOf(deployment, options, signal, reports);
  const lambda = createLambda({ context, functions, authorizer, invoke: options.invoke });
  const schedules = stack
    .ofType('AWS::Scheduler::Schedule')
    .map((schedule) => createSchedule(schedule, { context, lambda, authorizer, faults }));
  return {
    ...viewOf(deployment),
    schedules,
    reports,
    carry: () => startCarriers(deployment, context, lambda, schedules),
  };
}

function contextOf(
  { stack, account, front }: Deployment,
  { timeScale = 1 }: CloudOptions,
  signal: AbortSignal,
  reports: LogFields[],
): CarrierContext {
  const { roles, assume } = account;
  return {
    stack,
    roles,
    assume,
    signal,
    report: (message, fields) => {
      reports.push({ message, ...fields });
      if (fields['errorName'] === 'HarnessGap') front.onGap(String(fields['error']));
    },
    pause: (seconds) => systemClock.sleep((seconds * 1000) / timeScale, signal).catch(() => {}),
  };
}

function viewOf(deployment: Deployment): Omit<Cloud, 'schedules' | 'reports' | 'carry' | 'stop'> {
  const { stack, account, functions, front, accessEntries, queues, harness } = deployment;
  const { identities, recording, granted, used } = account;
  return {
    frontUrl: stack.place.frontUrl,
    region: stack.place.region,
    functions,
    accessEntries: (cluster) => accessEntries.get(cluster) ?? [],
    identify: (accessKeyId) => {
      const identity = identities.find(accessKeyId);
      if (!identity?.role || isExpired(identity)) return undefined;
      const { credentials, role, arn } = identity;
      return { ...credentials, roleArn: role.arn, sessionName: arn.replace(/^.*\//, '') };
    },
    outputs: stack.outputs,
    queue: (name) => {
      const model = queues.find((queue) => queue.name === name);
      if (!model) throw new Error(`template: there is no queue ${name}`);
      return createQueueView(model, harness, front.sqs.handlesOf);
    },
    fault: front.faults.add,
    calls: recording.calls,
    granted,
    used,
    gaps: front.gaps,
  };
}
