import { onLambda } from '../../runtime/aws/lambda.ts';
import { inboxesOf, workQueuesOf } from '../../runtime/aws/queues.ts';
import { createFunction } from './function.ts';
import { collector } from './operator.ts';

const own = [collector];
export const handler = onLambda(createFunction, {
  inboxes: inboxesOf(own),
  workQueues: workQueuesOf(own),
});
