// What Lambda's Node.js runtime does inside an execution environment, over the same Runtime API. JavaScript on purpose:
// to strip types would take 18 MB of the function's memory.

import { existsSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { env } = process;
const agent = new Agent({ keepAlive: true });
/** Of the invocation under way. */
let requestId;

async function main() {
  process.on('uncaughtException', (error) => void die(error, 129));
  process.on(
    'unhandledRejection',
    (reason) => void die(named('Runtime.UnhandledPromiseRejection', String(reason), reason), 128),
  );
  const handler = await load().catch((error) => die(error, 1));
  for (;;) await runNext(handler);
}

async function load() {
  const [file, name] = env._HANDLER.split('.');
  const path = join(env.LAMBDA_TASK_ROOT, `${file}.mjs`);
  if (!existsSync(path)) throw named('Runtime.ImportModuleError', `Cannot find module '${file}'`);
  const handler = (await import(pathToFileURL(path).href).catch(explainImport))[name];
  if (typeof handler === 'function') return handler;
  throw named('Runtime.HandlerNotFound', `${env._HANDLER} is undefined or not exported`);
}

function explainImport(error) {
  if (error?.code === 'ERR_MODULE_NOT_FOUND')
    throw named('Runtime.ImportModuleError', `Error: ${error.message}`, error);
  if (error instanceof SyntaxError)
    throw named('Runtime.UserCodeSyntaxError', `SyntaxError: ${error.message}`, error);
  throw error;
}

async function runNext(handler) {
  const { headers, body } = await call('GET', 'invocation/next');
  requestId = headers['lambda-runtime-aws-request-id'];
  const outcome = await run(handler, body, headers);
  await flush();
  await call('POST', `invocation/${requestId}/${outcome.path}`, outcome.body);
  requestId = undefined;
}

async function run(handler, body, headers) {
  try {
    const answer = await handler(JSON.parse(body), contextOf(headers));
    return { path: 'response', body: JSON.stringify(answer ?? null) ?? 'null' };
  } catch (error) {
    return { path: 'error', body: report('Invoke Error', error) };
  }
}

const contextOf = (headers) => ({
  awsRequestId: requestId,
  functionName: env.AWS_LAMBDA_FUNCTION_NAME,
  functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
  memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
  logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
  invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
  getRemainingTimeInMillis: () => Number(headers['lambda-runtime-deadline-ms']) - Date.now(),
});

/** Tells what went wrong outside of a handler's answer, then ends the environment. */
async function die(error, code) {
  const path = requestId === undefined ? 'init/error' : `invocation/${requestId}/error`;
  await call('POST', path, report('Uncaught Exception', error)).catch(() => {});
  await flush();
  process.exit(code);
}

/** Writes the error to the log and returns it as the API wants it. */
function report(message, thrown) {
  const isError = thrown instanceof Error;
  const error = {
    errorType: isError ? thrown.name : typeof thrown,
    errorMessage: isError ? thrown.message : String(thrown),
    trace: isError ? (thrown.stack ?? '').split('\n') : [],
  };
  const line = { level: 'error', message, timestamp: new Date().toISOString(), ...error };
  process.stderr.write(`${JSON.stringify(line)}\n`);
  return JSON.stringify(error);
}

/** A process that is frozen or gone cannot write what is still in its buffers. */
const flush = () =>
  Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise((resolve) => stream.write('', resolve)),
    ),
  );

function named(name, message, cause) {
  const error = new Error(message, { cause });
  error.name = name;
  return error;
}

function call(method, path, body) {
  return new Promise((resolve, reject) => {
    const url = `http://${env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/${path}`;
    const call = request(url, { method, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ headers: response.headers, body: text }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}

await main();
