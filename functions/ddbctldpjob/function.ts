import { environmentNames } from '../../runtime/aws/environment.ts';
import { readRegion } from '../../runtime/aws/environment-reader.ts';
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
  const roleArn = environment[environmentNames.scopedRole];
  // On a laptop there is none: the rights are those of the person at the keyboard.
  const accessTo =
    roleArn === undefined
      ? undefined
      : createPartitionAccess({ roleArn, region: readRegion(environment), clock: platform.clock });
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
