import { createReconcileHandler } from '../../runtime/handler.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { createPartitionTable } from './dynamo.ts';
import { ddbctldpjob } from './operator.ts';
import { createReconciler } from './reconciler.ts';

export const createFunction: CreateFunction = (platform) => {
  const reconciler = createReconciler({
    openTable: ({ tableName, awsRegion, endpointURL }) =>
      createPartitionTable({
        tableName,
        region: awsRegion,
        ...(endpointURL !== undefined && { endpoint: endpointURL }),
      }),
  });
  return createReconcileHandler(ddbctldpjob, reconciler, platform);
};
