import { expect, test } from 'vitest';
import { operators } from '../../functions/operators.ts';
import { synthesize, twoClustersInVpc } from '../synth/synthesize.ts';
import type { JsonObject } from './cloud/template/json.ts';
import { createStack } from './cloud/template/stack.ts';
import { parseTemplate } from './cloud/template/template.ts';

test('the harness understands the template in full, also with everything switched on', () => {
  const template = synthesize(twoClustersInVpc) as unknown as JsonObject;
  const stack = createStack(parseTemplate(template), {
    region: 'eu-west-1',
    account: '111122223333',
    stackName: 'Podless',
    frontUrl: 'http://127.0.0.1:1',
  });
  const namesOf = (type: string) => stack.ofType(type).map(({ name }) => name);
  expect(namesOf('AWS::Lambda::Function').toSorted()).toEqual(
    ['resync', 'watcher-prod', 'watcher-staging', ...operators.map(({ name }) => name)]
      .map((name) => `podless-${name}`)
      .toSorted(),
  );
  expect(namesOf('AWS::SQS::Queue')).toContain('podless-ddbctldpjob-work.fifo');
});
