import { environmentNames } from '../runtime/aws/environment.ts';
import type { Environment } from '../runtime/aws/environment-reader.ts';

export interface Surroundings {
  /** Addresses. */
  readonly dynamodb: string;
  readonly s3: string;
  /** A folder. */
  readonly temporary: string;
}

/** What the deployed functions find in theirs; credentials of the person at the keyboard, or none that open anything. */
export function environmentOf({ dynamodb, s3, temporary }: Surroundings): Environment {
  const settings: readonly string[] = [
    environmentNames.charts,
    environmentNames.chartBuckets,
    environmentNames.tenantNamespaces,
  ];
  const inherited = Object.entries(process.env).filter(
    ([name]) => /^(AWS_|HOME$|PATH$|TZ$)/.test(name) || settings.includes(name),
  );
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...Object.fromEntries(inherited),
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
    AWS_ENDPOINT_URL_S3: s3,
    // What a killed run leaves there goes with the system.
    TMPDIR: temporary,
    // Whoever uses this system started it.
    [environmentNames.endpoints]: '*',
  };
}
