import type { CreateFunction } from '../../../runtime/platform.ts';

/** Answers with its event and what it knows of its run. Counts its runs: a warm environment counts on. */
export const createFunction: CreateFunction = ({ environment, log, clusters }) => {
  let runs = 0;
  return async (event, context) => {
    runs += 1;
    log.info('echoing', { runs });
    return {
      event,
      runs,
      clusters,
      greeting: environment.GREETING,
      inherited: process.env.PATH ?? null,
      functionName: context.functionName,
      requestId: context.awsRequestId,
      remaining: context.getRemainingTimeInMillis(),
    };
  };
};
