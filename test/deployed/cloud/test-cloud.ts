import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { ddbctldpjob } from '../../../functions/ddbctldpjob/operator.ts';
import { startDynalite } from '../../../local/dynamodb/dynalite.ts';
import type { DynamoDbServer } from '../../../local/dynamodb/server.ts';
import { createHint, type Hint } from '../../../runtime/hint.ts';
import { until } from '../../helpers/until.ts';
import { oneCluster } from '../contexts.ts';
import { motoUrl } from '../moto-url.ts';
import { type Cloud, type CloudOptions, startCloud } from './cloud.ts';
import type { DeployedFunction } from './provision/functions.ts';
import { createScriptedFunctions, type ScriptedFunctions } from './scripted-functions.ts';
import { type ContextValues, synthesizeByCli } from './synthesize.ts';

/** The synthesized template on moto, with functions that do as a test says. */
export interface TestCloud {
  readonly cloud: Cloud;
  readonly functions: ScriptedFunctions;
  functionOf(name: string): DeployedFunction;
  /** Waits for an answer; says how the cloud is if there is none. */
  eventually<T>(ask: () => Promise<T | undefined>): Promise<T>;
}

export const names = {
  bus: 'podless',
  watcher: 'podless-watcher-prod',
  resync: 'podless-resync',
  reconciler: 'podless-ddbctldpjob',
  inbox: 'podless-ddbctldpjob-inbox',
  inboxDeadLetters: 'podless-ddbctldpjob-inbox-dlq',
  work: 'podless-ddbctldpjob-work.fifo',
  workDeadLetters: 'podless-ddbctldpjob-work-dlq.fifo',
  failedInvocations: 'podless-failed-invocations',
} as const;

export const hintOf = (name: string, occasion = '1'): Hint => {
  const subject = { cluster: 'prod', kind: ddbctldpjob.kind, namespace: 'default', name };
  return createHint(subject, 'Changed', occasion);
};

/** Servers for the tests of a file, and a way to a cloud of their own for each. */
export function useTestCloud(context: ContextValues = oneCluster) {
  let dynamodb: DynamoDbServer;
  let template: string;
  beforeAll(async () => {
    [dynamodb, template] = await Promise.all([startDynalite(), synthesizeByCli(context)]);
  });
  afterAll(() => dynamodb?.stop());

  const deploy = async (options: Partial<CloudOptions> = {}): Promise<TestCloud> => {
    const functions = createScriptedFunctions();
    const cloud = await startCloud({
      template,
      dynamodbUrl: dynamodb.url,
      motoUrl: motoUrl(),
      clusters: { prod: { endpoint: 'https://127.0.0.1:6443', ca: 'Y2VydGlmaWNhdGU=' } },
      invoke: functions.invoke,
      timeScale: 600,
      ...options,
    });
    onTestFinished(() => cloud.stop());
    return describeCloud(cloud, functions);
  };
  return {
    /** Deployed, nothing moves. */
    deploy,
    /** Deployed and running. */
    run: async (options: Partial<CloudOptions> = {}): Promise<TestCloud> => {
      const deployed = await deploy(options);
      await deployed.cloud.carry();
      return deployed;
    },
    dynamodbUrl: () => dynamodb.url,
  };
}

const describeCloud = (cloud: Cloud, functions: ScriptedFunctions): TestCloud => ({
  cloud,
  functions,
  functionOf(name) {
    const found = cloud.functions.find((one) => one.name === name);
    if (!found) throw new Error(`the template has no function ${name}`);
    return found;
  },
  eventually: (ask) =>
    until(ask, {
      seconds: 30,
      what: async () => {
        const { gaps, reports, calls } = cloud;
        const denied = calls.filter(({ allowed }) => !allowed);
        return `the cloud; ${JSON.stringify({ gaps, reports, denied })}`;
      },
    }),
});
