import type { Deployment } from '../deployment.ts';
import type { CarrierContext } from './carrier.ts';
import { startEventSourceMapping } from './event-source-mapping.ts';
import type { Lambda } from './lambda.ts';
import { startPipe } from './pipe.ts';
import { startRule } from './rule.ts';
import type { DeployedSchedule } from './schedule.ts';

/** Sets everything in motion. Throws if a service of AWS may not do what it needs to begin. */
export async function startCarriers(
  { stack, account, rules, harness }: Deployment,
  context: CarrierContext,
  lambda: Lambda,
  schedules: readonly DeployedSchedule[],
): Promise<void> {
  for (const tapped of rules) {
    const service = account.identities.service('events.amazonaws.com', tapped.rule.arn);
    startRule({ context, tapped, harness, service });
  }
  for (const pipe of stack.ofType('AWS::Pipes::Pipe')) await startPipe(pipe, context);
  for (const mapping of stack.ofType('AWS::Lambda::EventSourceMapping')) {
    await startEventSourceMapping(mapping, context, lambda);
  }
  for (const schedule of schedules) schedule.start();
}
