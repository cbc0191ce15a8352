import type { Account } from '../account.ts';
import type { Place } from '../template/physical-resource.ts';
import { createDynamoDbService } from './dynamodb-service.ts';
import { createEksService, type EksCluster } from './eks-service.ts';
import type { Endpoint } from './endpoint.ts';
import { createEventsService } from './events-service.ts';
import { createFaults, type Faults } from './faults.ts';
import { createForwarder } from './forward.ts';
import { createFront } from './front.ts';
import { createMoto } from './moto.ts';
import type { QueueModel } from './queue-model.ts';
import { createS3Service } from './s3-service.ts';
import { createSqsService, type SqsService } from './sqs-service.ts';
import { createStsService } from './sts-service.ts';

export interface FrontProps {
  readonly endpoint: Endpoint;
  readonly place: Place;
  readonly account: Account;
  readonly dynamodbUrl: string;
  readonly motoUrl: string;
  readonly clusters: Readonly<Record<string, EksCluster>>;
  readonly queues: readonly QueueModel[];
  /** Queues into which moto itself puts events. */
  readonly taps: readonly QueueModel[];
  readonly timeScale: number;
}

export interface RunningFront {
  readonly faults: Faults;
  readonly sqs: SqsService;
  /** What the harness could not do: the test must fail, even if the code under test goes on. */
  readonly gaps: readonly string[];
  readonly onGap: (message: string) => void;
  stop(): void;
}

/** Serves AWS at the endpoint, on servers that are empty for it. */
export async function startFront(props: FrontProps): Promise<RunningFront> {
  const { endpoint, place, clusters, queues, taps, timeScale } = props;
  const { identities, authorizer, roles } = props.account;
  const { account } = place;
  const dynamodb = createForwarder(props.dynamodbUrl);
  const objects = createForwarder(props.motoUrl);
  const moto = createMoto(props.motoUrl);
  await moto.reset();
  const sqs = createSqsService({ moto, queues: [...queues, ...taps], timeScale });
  const onEvents = (): void => {
    for (const { name } of taps) sqs.wake(name);
  };
  const services = {
    sqs,
    events: createEventsService({ moto, account, onEvents }),
    dynamodb: createDynamoDbService(dynamodb, account),
    sts: createStsService({ account, roles, identities }),
    eks: createEksService(clusters, account),
    s3: createS3Service({ server: objects, account, permits: authorizer.permits }),
  };
  const faults = createFaults();
  const gaps: string[] = [];
  const onGap = (message: string): void => void gaps.push(message);
  endpoint.serve(createFront({ identities, authorizer, services, faults, onGap }));
  const stop = (): void => {
    dynamodb.stop();
    objects.stop();
    moto.stop();
  };
  return { faults, sqs, gaps, onGap, stop };
}
