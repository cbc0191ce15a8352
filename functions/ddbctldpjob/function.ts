import { environmentNames } from '../../runtime/aws/environment.ts';
import { readRegion } from '../../runtime/aws/environment-reader.ts';
import { createReconcileHandler } from '../../runtime/handler.ts';
import type { CreateFunction } from '../../runtime/platform.ts';
import { createEndpointCheck } from './allowed-endpoints.ts';
import { createPartitionTable } from './dynamo.ts';
import type { ScopedAccess } from './dynamo-client.ts';
import { createEarlyDescription } from './early-description.ts';
import { ddbctldpjob } from './operator.ts';
import { createPartitionAccess } from './partition-access.ts';
import { createReconciler } from './reconciler.ts';
import type { Place } from './spec.ts';
import type { KeyValue } from './table.ts';

export const createFunction: CreateFunction = (platform) => {
  const { environment } = platform;
  const checkEndpoint = createEndpointCheck(environment[environmentNames.endpoints]);
  const roleArn = environment[environmentNames.scopedRole];
  // On a laptop there is none: the rights are those of the person at the keyboard.
  const accessTo =
    roleArn === undefined
      ? undefined
      : createPartitionAccess({ roleArn, region: readRegion(environment), clock: platform.clock });
  const openTable = (place: Place, access?: (value: KeyValue) => ScopedAccess) => {
    const { tableName, awsRegion: region, endpointURL } = place;
    checkEndpoint(endpointURL);
    const endpoint = endpointURL === undefined ? {} : { endpoint: endpointURL };
    return createPartitionTable({ tableName, region, ...endpoint, accessTo: access });
  };
  const early = createEarlyDescription({ clock: platform.clock, openTable });
  const reconciler = createReconciler({
    prepare: early.begin,
    openTable: (target, { metadata }) => {
      const { tableName, awsRegion: region } = target;
      const access = accessTo?.({ tableName, region, owner: metadata });
      return early.usedBy(target, openTable(target, access));
    },
  });
  return createReconcileHandler(ddbctldpjob, reconciler, platform);
};
