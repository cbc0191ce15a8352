import type { ContextKeyName } from './context-keys.ts';
import type { ContextReader } from './context-reader.ts';
import type { NetworkProps } from './network.ts';

const idOf = (kind: string): RegExp => new RegExp(`^${kind}-(?:[0-9a-f]{8}|[0-9a-f]{17})$`);

/** VPC and subnets come together or not at all; what else there is only makes sense with them. */
export function readNetwork(reader: ContextReader): NetworkProps | undefined {
  const vpcId = reader.text('vpcId');
  if (vpcId !== undefined && !idOf('vpc').test(vpcId))
    reader.problem('vpcId', 'is not the id of a VPC');
  const subnetIds = reader.list('subnetIds', idOf('subnet'));
  const routeTableIds = reader.list('routeTableIds', idOf('rtb'));
  const createEndpoints = readBoolean(reader, 'createVpcEndpoints', true);
  if (vpcId === undefined) {
    for (const key of ['subnetIds', 'routeTableIds', 'createVpcEndpoints'] as const) {
      if (reader.has(key)) reader.problem(key, 'is given without vpcId');
    }
    return undefined;
  }
  if (!reader.has('subnetIds')) reader.problem('subnetIds', 'is missing, while vpcId is given');
  if (!createEndpoints && routeTableIds.length > 0) {
    reader.problem(
      'routeTableIds',
      'is for the endpoints of DynamoDB and S3, which createVpcEndpoints=false forbids',
    );
  }
  if (createEndpoints && routeTableIds.length === 0 && reader.has('regions')) {
    reader.problem(
      'routeTableIds',
      'is missing, while regions is given: without it DynamoDB gets an interface, which reaches the region of the stack only',
    );
  }
  return { vpcId, subnetIds, routeTableIds, createEndpoints };
}

function readBoolean(reader: ContextReader, key: ContextKeyName, fallback: boolean): boolean {
  const text = reader.text(key);
  if (text === undefined) return fallback;
  if (text !== 'true' && text !== 'false') reader.problem(key, 'is neither true nor false');
  return text === 'true';
}
