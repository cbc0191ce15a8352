import { environmentNames } from '../../runtime/aws/environment.ts';
import { createReconcileHandler } from '../../runtime/handler.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { createEndpointCheck } from './allowed-endpoints.ts';
import { createPartitionTable } from './dynamo.ts';
import { ddbctldpjob } from './operator.ts';
import { createPartitionAccess } from './partition-access.ts';
import { createReconciler } from './reconciler.ts';

export const createFunction: CreateFunction = (platform) => {
  const { environment } = platform;
  const checkEndpoint = createEndpointCheck(environment[environmentNames.endpoints]);
  const accessTo = createPartitionAccess(environment[environmentNames.scopedRole]);
  const reconciler = createReconciler({
    openTable: (target, { metadata }) => {
      const { tableName, awsRegion: region, endpointURL } = target;
      checkEndpoint(endpointURL);
      return createPartitionTable({
        tableName,
        region,
        ...(endpointURL !== undefined && { endpoint: endpointURL }),
        accessTo: accessTo?.({ tableName, region, owner: metadata }),
      });
    },
  });
  return createReconcileHandler(ddbctldpjob, reconciler, platform);
};
