import type { Environment } from './environment-reader.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type CredentialProvider = () => Promise<AwsCredentials>;

/**
 * The credentials of the function's own role, where Lambda puts them, read at each call. Nothing else is looked at, no file
 * and no metadata service: a function can only be who its role says.
 */
export const credentialsOf =
  (environment: Environment): CredentialProvider =>
  async () => {
    const sessionToken = environment['AWS_SESSION_TOKEN'];
    return {
      accessKeyId: required(environment, 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: required(environment, 'AWS_SECRET_ACCESS_KEY'),
      ...(sessionToken && { sessionToken }),
    };
  };

export const environmentCredentials: CredentialProvider = credentialsOf(process.env);

/** The message never shows a value: it would be a secret. */
function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (value) return value;
  throw new Error(`environment variable ${name} must be set, got nothing`);
}
