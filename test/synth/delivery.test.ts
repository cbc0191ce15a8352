import { describe, expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { resyncSettings } from '../../functions/resync/settings.ts';
import { watcherSettings } from '../../functions/watcher/settings.ts';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { createHint, HINT_SOURCE } from '../../runtime/hint.ts';
import { apiVersionOf } from '../../runtime/operator.ts';
import { synthesize, twoClustersInVpc } from './synthesize.ts';
import {
  functionsOf,
  type Properties,
  propertiesOf,
  targetOf,
  theOne,
} from './template-queries.ts';

const template = synthesize(twoClustersInVpc);
const queueNamed = (name: string) =>
  theOne(template, 'AWS::SQS::Queue', ({ QueueName }) => QueueName === name);
const queueOf = (reference: unknown) =>
  template.Resources[targetOf(reference) ?? '']?.Properties['QueueName'];

describe.each(operators)('the way to $name', (operator) => {
  const { name, kind } = operator;
  const inbox = queueNamed(`podless-${name}-inbox`);
  const work = queueNamed(`podless-${name}-work.fifo`);
  const named = ({ Name }: Properties) => Name === `podless-${name}`;
  const hint = createHint({ cluster: 'c', kind, namespace: 'n', name: 'o' }, 'Changed', '1');

  test('begins with a rule that sends the hint alone to the inbox', () => {
    const { properties: rule } = theOne(template, 'AWS::Events::Rule', named);
    expect(rule['EventPattern']).toEqual({
      source: [HINT_SOURCE],
      'detail-type': [hint.kind],
      detail: { apiVersion: [apiVersionOf(kind)] },
    });
    const [target] = rule['Targets'] as readonly [Properties];
    expect(target['InputPath']).toBe('$.detail');
    expect(queueOf(target['Arn'])).toBe(`podless-${name}-inbox`);
    expect(queueOf((target['DeadLetterConfig'] as Properties)['Arn'])).toBe(
      `podless-${name}-inbox-dlq`,
    );
  });

  test('goes on by a Pipe that takes group and deduplication id from the hint, one at a time', () => {
    const { properties: pipe } = theOne(template, 'AWS::Pipes::Pipe', named);
    expect([targetOf(pipe['Source']), targetOf(pipe['Target'])]).toEqual([inbox.id, work.id]);
    expect(pipe['SourceParameters']).toEqual({ SqsQueueParameters: { BatchSize: 1 } });
    const { InputTemplate, SqsQueueParameters } = pipe['TargetParameters'] as Properties;
    expect(InputTemplate).toBe('<$.body>');
    const { MessageGroupId, MessageDeduplicationId } = SqsQueueParameters as Record<string, string>;
    expect(valueAt(MessageGroupId, { body: hint })).toBe(hint.group);
    expect(valueAt(MessageDeduplicationId, { body: hint })).toBe(hint.dedupId);
  });

  test('ends in a FIFO queue with limits for each object, which lets a run end before it gives it out again', () => {
    expect(work.properties).toMatchObject({
      FifoQueue: true,
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      ContentBasedDeduplication: false,
      RedrivePolicy: { maxReceiveCount: operator.maxReceives },
    });
    expect(work.properties['VisibilityTimeout']).toBeGreaterThanOrEqual(
      6 * operator.timeoutSeconds,
    );
  });

  test('hands single messages to the function, and takes back the one that failed', () => {
    const { properties: source } = theOne(
      template,
      'AWS::Lambda::EventSourceMapping',
      ({ EventSourceArn }) => targetOf(EventSourceArn) === work.id,
    );
    expect(source).toMatchObject({
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: operator.maxConcurrency },
    });
    expect(template.Resources[targetOf(source['FunctionName']) ?? '']?.Properties).toMatchObject({
      FunctionName: `podless-${name}`,
      RecursiveLoop: 'Allow',
      Timeout: operator.timeoutSeconds,
      MemorySize: operator.memoryMegabytes,
    });
  });

  test('has dead-letter queues that take messages of their own queue only', () => {
    for (const { id, properties } of [inbox, work]) {
      const { deadLetterTargetArn } = properties['RedrivePolicy'] as Properties;
      const deadLetters = template.Resources[targetOf(deadLetterTargetArn) ?? ''];
      const name = properties['QueueName'] as string;
      expect(deadLetters?.Properties['QueueName']).toBe(name.replace(/(\.fifo)?$/, '-dlq$1'));
      expect(JSON.stringify(deadLetters?.Properties['RedriveAllowPolicy'])).toContain(`:${name}"`);
      expect(id).not.toBe(targetOf(deadLetterTargetArn));
    }
  });
});

describe('schedules', () => {
  const schedules = propertiesOf(template, 'AWS::Scheduler::Schedule').map((schedule) => {
    const target = schedule['Target'] as Properties;
    const name = template.Resources[targetOf(target['Arn']) ?? '']?.Properties['FunctionName'];
    return { schedule, target, name, input: JSON.parse(target['Input'] as string) as Properties };
  });

  test('start a shift for each cluster, and each shift outlasts the wait for the next', () => {
    const shifts = schedules.filter(({ name }) => String(name).includes('watcher'));
    expect(shifts.map(({ name, input }) => [name, input['cluster']])).toEqual([
      ['podless-watcher-prod', 'prod'],
      ['podless-watcher-staging', 'staging'],
    ]);
    for (const { schedule, input } of shifts) {
      expect(schedule['ScheduleExpression']).toBe('rate(10 minutes)');
      expect(input['shiftSeconds']).toBeGreaterThan(600);
      expect(input['shiftSeconds']).toBeLessThan(watcherSettings.timeoutSeconds);
    }
  });

  test('start a resync of each kind in each cluster', () => {
    const inputs = schedules
      .filter(({ name }) => name === 'podless-resync')
      .map(({ input }) => input);
    expect(inputs).toEqual(
      ['prod', 'staging'].flatMap((cluster) =>
        operators.map(({ name, resyncSeconds }) => ({
          cluster,
          operator: name,
          spreadSeconds: resyncSeconds / 2,
        })),
      ),
    );
  });

  test('keep what they could not start, and give up when the next run is due', () => {
    for (const { schedule, target, input } of schedules) {
      const operator = operators.find(({ name }) => name === input['operator']);
      expect(queueOf((target['DeadLetterConfig'] as Properties)['Arn'])).toBe(
        'podless-failed-invocations',
      );
      expect(target['RetryPolicy']).toMatchObject({
        MaximumEventAgeInSeconds: operator?.resyncSeconds ?? watcherSettings.periodSeconds,
      });
      expect(schedule['State']).toBe('ENABLED');
    }
  });
});

describe('functions', () => {
  const functions = functionsOf(template);
  const variablesOf = (name: string) => Object.keys(variablesIn(functions.get(name))).sort();

  test('are told what their handlers read, and no more', () => {
    const { clusters, bus, cursorTable, scopedRole, endpoints, inbox, work } = environmentNames;
    const { operator, chartBuckets, tenantNamespaces } = environmentNames;
    const inboxes = operators.map(({ name }) => inbox(name));
    const told = (name: string, ...own: readonly string[]) =>
      expect([name, variablesOf(name)]).toEqual([name, ['NODE_OPTIONS', clusters, ...own].sort()]);
    told('podless-watcher-prod', environmentNames.operators, bus, cursorTable);
    told('podless-resync', environmentNames.operators, ...inboxes);
    const queues = (name: string) => [inbox(name), work(name)];
    told('podless-ddbctldpjob', ...queues('ddbctldpjob'), scopedRole, endpoints);
    told('podless-myownshell', ...queues('myownshell'));
    told('podless-goop', ...queues('goop'));
    told('podless-minimart', ...queues('minimart'), operator);
    told('podless-collector', ...queues('collector'), chartBuckets, tenantNamespaces);
  });

  test('are told whose kinds to watch, which operator they are, and where charts may come from and go', () => {
    const variables = (name: string) => variablesIn(functions.get(name));
    const names = operators.map(({ name }) => name).join();
    expect(variables('podless-watcher-prod')).toMatchObject({ PODLESS_OPERATORS: names });
    expect(variables('podless-resync')).toMatchObject({ PODLESS_OPERATORS: names });
    expect(variables('podless-minimart')).toMatchObject({ PODLESS_OPERATOR: 'minimart' });
    expect(variables('podless-collector')).toMatchObject({
      PODLESS_CHART_BUCKETS: 'development=acme-charts-dev,production=acme-charts',
      PODLESS_TENANT_NAMESPACES: 'tenant-*,acme',
    });
  });

  test('run on the same Node as the tests, with a log group of their own', () => {
    for (const [name, properties] of functions) {
      expect(properties).toMatchObject({
        Runtime: `nodejs${process.versions.node.split('.')[0]}.x`,
        Handler: 'index.handler',
      });
      const { LogGroup } = properties['LoggingConfig'] as Properties;
      expect(template.Resources[targetOf(LogGroup) ?? '']).toMatchObject({
        Properties: { LogGroupName: `/aws/lambda/${name}`, RetentionInDays: 90 },
        DeletionPolicy: 'Delete',
      });
    }
  });

  test('other than reconcilers may not call themselves in a circle', () => {
    const recursive = [...functions].filter(([, { RecursiveLoop }]) => RecursiveLoop === 'Allow');
    expect(recursive.map(([name]) => name)).toEqual(operators.map(({ name }) => `podless-${name}`));
  });

  test('keep asynchronous runs that failed for good', () => {
    const configs = propertiesOf(template, 'AWS::Lambda::EventInvokeConfig');
    expect(configs).toHaveLength(functions.size);
    for (const { DestinationConfig } of configs) {
      const { OnFailure } = DestinationConfig as { OnFailure: Properties };
      expect(queueOf(OnFailure['Destination'])).toBe('podless-failed-invocations');
    }
  });

  test('have the time and memory that their declarations ask for', () => {
    expect(functions.get('podless-resync')).toMatchObject({
      Timeout: resyncSettings.timeoutSeconds,
      MemorySize: resyncSettings.memoryMegabytes,
    });
    expect(functions.get('podless-watcher-prod')).toMatchObject({
      Timeout: watcherSettings.timeoutSeconds,
      MemorySize: watcherSettings.memoryMegabytes,
    });
  });
});

const variablesIn = (properties: Properties | undefined): object =>
  (properties?.['Environment'] as { readonly Variables: object } | undefined)?.Variables ?? {};

/** The value at a path such as `$.body.group`. */
const valueAt = (path: string | undefined, root: object): unknown =>
  path
    ?.split('.')
    .slice(1)
    .reduce<unknown>((value, key) => (value as Properties)[key], root);
