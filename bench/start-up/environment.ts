import { operators } from '../../functions/operators.ts';
import { environmentNames } from '../../runtime/aws/environment.ts';

/** What the stack sets for its functions, all of it for each; no function calls anything before its first event. */
export function functionEnvironment(): NodeJS.ProcessEnv {
  const queue = (name: string): string =>
    `https://sqs.us-east-1.amazonaws.com/000000000000/podless-${name}`;
  const queues = operators.flatMap(({ name }) => [
    [environmentNames.inbox(name), queue(`${name}-inbox`)],
    [environmentNames.work(name), queue(`${name}-work.fifo`)],
  ]);
  return {
    PATH: process.env['PATH'],
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    // Only code that several operators share asks which of them it is.
    [environmentNames.operator]: operators.find(({ code }) => code !== undefined)?.name,
    [environmentNames.clusters]: 'bench',
    [environmentNames.bus]: 'podless',
    [environmentNames.cursorTable]: 'podless-cursors',
    [environmentNames.scopedRole]: 'arn:aws:iam::000000000000:role/podless-scoped',
    ...Object.fromEntries(queues),
  };
}
