import { deployedOf } from '../../runtime/aws/deployed-operators.ts';
import { onLambda } from '../../runtime/aws/lambda.ts';
import { inboxesOf } from '../../runtime/aws/queues.ts';
import { operators } from '../operators.ts';
import { createFunction } from './function.ts';

export const handler = onLambda(createFunction, {
  inboxes: (context) => inboxesOf(deployedOf(operators, context.environment))(context),
});
