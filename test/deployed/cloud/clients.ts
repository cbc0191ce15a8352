import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Identity } from './front/identities.ts';
import type { Place } from './template/physical-resource.ts';

/** Where AWS is. */
export type Address = Pick<Place, 'frontUrl' | 'region'>;

const optionsOf = ({ frontUrl, region }: Address, { credentials }: Identity) => ({
  endpoint: frontUrl,
  region,
  credentials,
});

/** SQS through the front, signed by someone. */
export const sqsAs = (place: Address, identity: Identity): SQSClient =>
  new SQSClient(optionsOf(place, identity));

/** EventBridge through the front, signed by someone. */
export const eventsAs = (place: Address, identity: Identity): EventBridgeClient =>
  new EventBridgeClient(optionsOf(place, identity));
