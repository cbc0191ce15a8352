import { functionArn } from './function-name.ts';

/** What the Lambda API tells about a function; enough for `aws lambda list-functions` and `get-function`. */
export interface DescribedFunction {
  readonly functionName: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
}

export const describeConfiguration = (
  { functionName, timeoutSeconds, memoryMegabytes }: DescribedFunction,
  region: string,
) => ({
  FunctionName: functionName,
  FunctionArn: functionArn(functionName, region),
  Runtime: 'nodejs24.x',
  Role: `arn:aws:iam::000000000000:role/${functionName}`,
  Handler: 'handler.handler',
  Description: 'runs on this machine',
  CodeSize: 0,
  Timeout: timeoutSeconds,
  MemorySize: memoryMegabytes,
  Version: '$LATEST',
  PackageType: 'Zip',
  Architectures: [process.arch === 'arm64' ? 'arm64' : 'x86_64'],
  State: 'Active',
  LastUpdateStatus: 'Successful',
});

export const describeFunction = (described: DescribedFunction, region: string) => ({
  Configuration: describeConfiguration(described, region),
  Code: { RepositoryType: 'local', Location: '' },
});
