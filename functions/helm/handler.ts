import { environmentNames } from '../../runtime/aws/environment.ts';
import { readVariable } from '../../runtime/aws/environment-reader.ts';
import { onLambda } from '../../runtime/aws/lambda.ts';
import { inboxesOf, workQueuesOf } from '../../runtime/aws/queues.ts';
import { createFunction } from './function.ts';

// Several operators share this code: each function knows its own by name, and has the queues of no other.
const name = readVariable(process.env, environmentNames.operator, {
  expected: 'the name of an operator',
  pattern: /^[\da-z-]+$/,
});
const own = [{ name }];
export const handler = onLambda(createFunction, {
  inboxes: inboxesOf(own),
  workQueues: workQueuesOf(own),
});
