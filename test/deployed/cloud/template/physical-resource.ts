import { createHash } from 'node:crypto';

/** Where the stack is deployed. */
export interface Place {
  readonly region: string;
  readonly account: string;
  readonly stackName: string;
  /** Queue URLs begin with it. */
  readonly frontUrl: string;
}

/** What `Ref` and `Fn::GetAtt` answer for a resource. */
export interface PhysicalResource {
  readonly name: string;
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface ResourceKind {
  readonly nameProperty: string;
  readonly max: number;
  readonly characters: RegExp;
  /** @param property a text property of the resource */
  identify(name: string, place: Place, property: Property): Omit<PhysicalResource, 'name'>;
}

type Property = (name: string) => string | undefined;

const arn = ({ region, account }: Place, service: string, resource: string): string =>
  `arn:aws:${service}:${region}:${account}:${resource}`;

/** `Ref` is the name, and the ARN an attribute: so it is with most types. */
const byName =
  (service: string, resource: (name: string, property: Property) => string) =>
  (name: string, place: Place, property: Property) => ({
    ref: name,
    attributes: { Arn: arn(place, service, resource(name, property)) },
  });

const wordCharacters = /^[\w-]+$/;
const dottedCharacters = /^[\w.-]+$/;

const kinds: Readonly<Record<string, ResourceKind>> = {
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    max: 80,
    characters: /^[\w-]+(\.fifo)?$/,
    identify: (name, place) => {
      const url = `${place.frontUrl}/${place.account}/${name}`;
      const Arn = arn(place, 'sqs', name);
      return { ref: url, attributes: { Arn, QueueName: name, QueueUrl: url } };
    },
  },
  'AWS::Events::EventBus': {
    nameProperty: 'Name',
    max: 256,
    characters: /^[\w./-]+$/,
    identify: (name, place) => ({
      ref: name,
      attributes: { Arn: arn(place, 'events', `event-bus/${name}`), Name: name },
    }),
  },
  'AWS::Events::Rule': {
    nameProperty: 'Name',
    max: 64,
    characters: dottedCharacters,
    identify: byName('events', (name, property) => {
      const bus = property('EventBusName') ?? 'default';
      return bus === 'default' ? `rule/${name}` : `rule/${bus}/${name}`;
    }),
  },
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    max: 64,
    characters: wordCharacters,
    identify: byName('lambda', (name) => `function:${name}`),
  },
  'AWS::Lambda::LayerVersion': {
    nameProperty: 'LayerName',
    max: 140,
    characters: wordCharacters,
    identify: (name, place) => {
      const ref = arn(place, 'lambda', `layer:${name}:1`);
      return { ref, attributes: { LayerVersionArn: ref } };
    },
  },
  'AWS::IAM::Role': {
    nameProperty: 'RoleName',
    max: 64,
    characters: /^[\w+=,.@-]+$/,
    identify: (name, { account }) => ({
      ref: name,
      attributes: { Arn: `arn:aws:iam::${account}:role/${name}`, RoleId: roleIdOf(name) },
    }),
  },
  'AWS::IAM::ManagedPolicy': {
    nameProperty: 'ManagedPolicyName',
    max: 128,
    characters: /^[\w+=,.@-]+$/,
    identify: (name, { account }) => {
      const ref = `arn:aws:iam::${account}:policy/${name}`;
      return { ref, attributes: { PolicyArn: ref } };
    },
  },
  'AWS::DynamoDB::Table': {
    nameProperty: 'TableName',
    max: 255,
    characters: /^[\w.-]{3,}$/,
    identify: byName('dynamodb', (name) => `table/${name}`),
  },
  'AWS::Pipes::Pipe': {
    nameProperty: 'Name',
    max: 64,
    characters: dottedCharacters,
    identify: byName('pipes', (name) => `pipe/${name}`),
  },
  'AWS::Scheduler::ScheduleGroup': {
    nameProperty: 'Name',
    max: 64,
    characters: dottedCharacters,
    identify: byName('scheduler', (name) => `schedule-group/${name}`),
  },
  'AWS::Scheduler::Schedule': {
    nameProperty: 'Name',
    max: 64,
    characters: dottedCharacters,
    identify: byName(
      'scheduler',
      (name, property) => `schedule/${property('GroupName') ?? 'default'}/${name}`,
    ),
  },
  'AWS::EC2::SecurityGroup': {
    nameProperty: 'GroupName',
    max: 255,
    characters: wordCharacters,
    identify: (name) => ({ ref: name, attributes: { GroupId: `sg-${hash(name).slice(0, 17)}` } }),
  },
  'AWS::Logs::LogGroup': {
    nameProperty: 'LogGroupName',
    max: 512,
    characters: /^[\w./#-]+$/,
    identify: byName('logs', (name) => `log-group:${name}:*`),
  },
};

/**
 * The name and ARN a resource gets. A name that AWS would refuse is an error; a resource without one gets a name as
 * CloudFormation makes it. Undefined for types that nothing refers to.
 */
export function physicalResource(
  { type, logicalId }: { readonly type: string; readonly logicalId: string },
  place: Place,
  property: Property,
): PhysicalResource | undefined {
  const kind = kinds[type];
  if (!kind) return undefined;
  const name = property(kind.nameProperty) ?? generatedName(logicalId, place, kind.max);
  if (name.length > kind.max || !kind.characters.test(name)) {
    throw new Error(
      `template: ${logicalId} has the name ${JSON.stringify(name)}, but ${type} allows ${kind.max} characters of ${kind.characters.source}, got ${name.length}`,
    );
  }
  return { name, ...kind.identify(name, place, property) };
}

function generatedName(logicalId: string, { stackName }: Place, max: number): string {
  const suffix = `-${hash(`${stackName}/${logicalId}`).slice(0, 12)}`;
  return `${`${stackName}-${logicalId}`.slice(0, max - suffix.length)}${suffix}`;
}

const roleIdOf = (name: string): string => `AROA${hash(name).slice(0, 17)}`;

const hash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').toUpperCase();
