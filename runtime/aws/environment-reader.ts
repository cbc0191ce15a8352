/** Environment variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Expectation {
  /** For the message: `the name of an event bus`. */
  readonly expected: string;
  readonly pattern: RegExp;
}

/** A variable that must be there and look right, or the function fails: while it starts, not in the middle of its work. */
export function readVariable(
  environment: Environment,
  name: string,
  { expected, pattern }: Expectation,
): string {
  const value = environment[name];
  if (value !== undefined && pattern.test(value)) return value;
  const got = value === undefined ? 'nothing' : JSON.stringify(value);
  throw new Error(`environment variable ${name} must be ${expected}, got ${got}`);
}

const region: Expectation = {
  expected: 'a region such as eu-central-1',
  pattern: /^[a-z]{2,}(-[a-z]+)+-\d+$/,
};

/** The region a function runs in. Lambda sets it. */
export const readRegion = (environment: Environment): string =>
  readVariable(environment, 'AWS_REGION', region);

/** For queues, whose address is all that a function knows of them. */
export const queueUrl: Expectation = {
  expected: 'the URL of an SQS queue',
  pattern: /^https?:\/\/[^\s/]+\/\S+$/,
};
