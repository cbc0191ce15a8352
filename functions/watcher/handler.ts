import { cursorStore } from '../../runtime/aws/cursor-store.ts';
import { eventBus } from '../../runtime/aws/event-bus.ts';
import { onLambda } from '../../runtime/aws/lambda.ts';
import { createFunction } from './function.ts';

export const handler = onLambda(createFunction, { bus: eventBus, cursors: cursorStore });
