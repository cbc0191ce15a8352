/** `npm run local`: the whole system on this machine, until Ctrl-C. */
import { operators } from '../functions/operators.ts';
import { createConsole } from './console.ts';
import { createLogFile, logToConsole } from './log-output.ts';
import { runMain } from './main.ts';
import { readOptions } from './options.ts';
import { claimStateFolder } from './state-folder.ts';
import { type System, startSystem } from './system.ts';

const commandLine = {
  usage: `npm run local -- [options]

Runs Podless on this machine: a Kubernetes API server, a DynamoDB, the functions, and the messaging between them.
Stays in the foreground; Ctrl-C stops everything.`,
  options: {
    dynamodb: {
      type: 'text',
      value: '<engine>',
      help: 'dynalite (default), dynamodb-local, or the address of a DynamoDB',
    },
    s3: {
      type: 'text',
      value: '<folder|url>',
      help: 'folder with a subfolder for each bucket, or the address of an S3 (default: .podless/s3)',
    },
    'function-timeout': {
      type: 'number',
      value: '<seconds>',
      help: "kill any function run after this time (default: each function's own)",
    },
    resync: {
      type: 'number',
      value: '<seconds>',
      help: "time between resyncs (default: each operator's own)",
    },
    kubeconfig: {
      type: 'text',
      value: '<file>',
      help: 'run against this cluster instead of an own API server',
    },
  },
} as const;

const kinds = operators.map(({ kind }) => kind.plural).join(',');

const howToUse = (
  { dynamodb, s3, lambda, http }: Pick<System, 'dynamodb' | 's3' | 'lambda' | 'http'>,
  kubeconfig: string,
) => `
  export KUBECONFIG=${kubeconfig} AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1
  kubectl apply -f crds/samples
  kubectl get ${kinds} -A -o wide
  aws dynamodb list-tables --endpoint-url ${dynamodb}
  aws s3 ls s3://production-helm/charts/ --endpoint-url ${s3}
  aws lambda invoke --endpoint-url ${lambda} --function-name podless-ddbctldpjob --payload '{"name":"x"}' out.json
  curl ${http}/metrics
`;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

await runMain(async (args, signal) => {
  const options = readOptions(commandLine, args);
  if (!options) return;
  const output = createConsole(process.stdout);
  const { dynamodb, s3, 'function-timeout': functionTimeout, resync, kubeconfig } = options;
  const state = await claimStateFolder('local');
  const logFile = createLogFile(state.file('local.log'));
  try {
    const system = await startSystem({
      ...(dynamodb !== undefined && { dynamodb: String(dynamodb) }),
      s3: String(s3 ?? process.env['AWS_ENDPOINT_URL_S3'] ?? state.file('s3')),
      ...(functionTimeout !== undefined && { functionTimeout: Number(functionTimeout) }),
      ...(resync !== undefined && { resync: Number(resync) }),
      ...(kubeconfig !== undefined && { kubeconfig: String(kubeconfig) }),
      workloads: true,
      report: output.progress,
      onLog: (source, line) => {
        logFile.write(source, line);
        logToConsole(output, source, line);
      },
      signal,
    });
    try {
      const path = await state.publish(system);
      output.line(`ready: ${path} has the addresses`);
      output.line(howToUse(system, state.kubeconfigPath(system)));
      await aborted(signal);
      output.line('stopping');
    } finally {
      await system.stop();
    }
  } finally {
    await state.release();
    await logFile.close();
  }
  output.line('stopped');
});
