import type { Credentials, Identity } from '../front/identities.ts';
import type { Role } from '../iam/roles.ts';
import type { Stack, StackResource } from '../template/stack.ts';
import { readAssets } from './assets.ts';
import { layerEnvironment } from './layers.ts';

/** A function of the template, with all that is needed to run it. */
export interface DeployedFunction {
  readonly name: string;
  readonly arn: string;
  readonly roleArn: string;
  /** The bundle, unpacked. */
  readonly codeFolder: string;
  readonly handler: string;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly logGroup: string;
  readonly identity: Identity;
  readonly credentials: Credentials;
}

/** Lets a service act as a role, if the role trusts it. Throws if not. */
export type AssumeAsService = (
  role: Role,
  service: string,
  sourceArn: string,
  sessionName: string,
) => Identity;

export interface FunctionsOptions {
  readonly stack: Stack;
  readonly roles: ReadonlyMap<string, Role>;
  readonly assume: AssumeAsService;
  /** Folder of the synthesized template. */
  readonly assemblyFolder: string;
}

export function deployFunctions(options: FunctionsOptions): readonly DeployedFunction[] {
  const { stack, assemblyFolder } = options;
  const assetOf = readAssets(assemblyFolder, stack.place.stackName);
  return stack.ofType('AWS::Lambda::Function').map((resource) => {
    const { name, arn, fields } = resource;
    const identity = roleSession(resource, options);
    const runtime = fields.text('Runtime');
    if (runtime !== 'nodejs24.x') throw new Error(`the harness runs nodejs24.x, not ${runtime}`);
    const memoryMegabytes = fields.optionalNumber('MemorySize') ?? 128;
    const logGroup = fields.optionalFields('LoggingConfig')?.optionalText('LogGroup');
    return {
      name,
      arn,
      roleArn: fields.text('Role'),
      codeFolder: assetOf(fields.fields('Code')),
      handler: fields.text('Handler'),
      memoryMegabytes,
      timeoutSeconds: fields.optionalNumber('Timeout') ?? 3,
      environment: {
        ...environmentOf(resource, identity, stack, memoryMegabytes),
        ...layerEnvironment(resource, stack, assetOf),
      },
      logGroup: logGroup ?? `/aws/lambda/${name}`,
      identity,
      credentials: identity.credentials,
    };
  });
}

/** Lambda names the session after the function. */
function roleSession({ name, arn, fields }: StackResource, { roles, assume }: FunctionsOptions) {
  const role = roles.get(fields.text('Role'));
  if (!role) throw new Error(`template: there is no role ${fields.text('Role')} (${fields.path})`);
  return assume(role, 'lambda.amazonaws.com', arn, name);
}

/** What the template gives, and what Lambda and the harness add. */
function environmentOf(
  { name, fields }: StackResource,
  { credentials }: Identity,
  { place }: Stack,
  memoryMegabytes: number,
): Readonly<Record<string, string>> {
  const own = fields.optionalFields('Environment')?.fields('Variables');
  const variables = Object.keys(own?.raw ?? {}).map((key) => [key, own?.text(key)]);
  return {
    ...Object.fromEntries(variables),
    AWS_REGION: place.region,
    AWS_DEFAULT_REGION: place.region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
    AWS_ENDPOINT_URL: place.frontUrl,
    AWS_ENDPOINT_URL_DYNAMODB: place.frontUrl,
  };
}
