export interface LambdaEnvironmentOptions {
  readonly name: string;
  readonly handler: string;
  readonly codeFolder: string;
  readonly memoryMegabytes: number;
  /** What the template gives, the region, and the credentials of the function's role. */
  readonly environment: Readonly<Record<string, string>>;
}

/** All that a function finds in its environment: what Lambda puts there, and nothing of the process that runs the test. */
export const lambdaEnvironment = (
  { name, handler, codeFolder, memoryMegabytes, environment }: LambdaEnvironmentOptions,
  runtimeApi: string,
): Record<string, string> => ({
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/bin',
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
  // The SDK would otherwise look for settings and credentials of whoever runs the test.
  HOME: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
  ...environment,
  // Last: a template cannot set these.
  _HANDLER: handler,
  LAMBDA_TASK_ROOT: codeFolder,
  AWS_LAMBDA_RUNTIME_API: runtimeApi,
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: '[$LATEST]',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
});
