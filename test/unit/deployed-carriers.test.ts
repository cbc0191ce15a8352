import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderTemplate } from '../deployed/cloud/carriers/input-template.ts';
import { parseJsonPath } from '../deployed/cloud/carriers/json-path.ts';
import { createToTarget } from '../deployed/cloud/carriers/pipe.ts';
import { secondsOf } from '../deployed/cloud/carriers/schedule.ts';
import { HarnessGap } from '../deployed/cloud/iam/gap.ts';
import { fieldsOf } from '../deployed/cloud/template/fields.ts';
import type { JsonObject } from '../deployed/cloud/template/json.ts';

describe('a JSON path', () => {
  const event = { body: { group: 'g', list: [{ id: 7 }] } };

  test('finds a value, or nothing', () => {
    expect(parseJsonPath('$')(event)).toBe(event);
    expect(parseJsonPath('$.body.list[0].id')(event)).toBe(7);
    expect(parseJsonPath('$.body.dedupId')(event)).toBeUndefined();
    expect(parseJsonPath('$.body.constructor')(event)).toBeUndefined();
  });

  test.each(['body.group', '$..group', '$.body[*]', "$['body']"])(
    'that the harness does not know is an error: %s',
    (text) => {
      expect(() => parseJsonPath(text)).toThrow(HarnessGap);
    },
  );
});

describe('an input template', () => {
  test('passes any value on as the JSON it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const body = JSON.parse(JSON.stringify(value)) as JsonObject;
        expect(JSON.parse(renderTemplate('<$.body>', { body }))).toEqual(body);
        expect(JSON.parse(renderTemplate('{"all": <$.body>}', { body }))).toEqual({ all: body });
      }),
    );
  });

  test('puts text into quotes without breaking them', () => {
    const rendered = renderTemplate('{"says": "it is <$.a>, \\"<$.b>\\""}', {
      a: 'x"y',
      b: { c: 1 },
    });
    expect(JSON.parse(rendered)).toEqual({ says: 'it is x"y, "{"c":1}"' });
  });
});

describe('a Pipe', () => {
  const record = (body: string): JsonObject => ({ messageId: 'm', body });
  const target = createToTarget(
    fieldsOf(
      {
        InputTemplate: '<$.body>',
        SqsQueueParameters: {
          MessageGroupId: '$.body.group',
          MessageDeduplicationId: '$.body.dedupId',
        },
      },
      'Pipe.TargetParameters',
    ),
  );

  test('takes group and deduplication id from the body, and passes only the body on', () => {
    const body = JSON.stringify({ group: 'g', dedupId: 'd', name: 'x' });
    expect(target(record(body))).toEqual({
      MessageBody: body,
      MessageGroupId: 'g',
      MessageDeduplicationId: 'd',
    });
  });

  test.each(['{"dedupId":"d"}', '{"group":{},"dedupId":"d"}', 'not JSON', 'null'])(
    'cannot pass on a message without a group: %s',
    (body) => {
      expect(() => target(record(body))).toThrow('MessageGroupId $.body.group finds no text');
    },
  );

  test('passes the whole record on if it has no template', () => {
    const plain = createToTarget(fieldsOf({}, 'Pipe.TargetParameters'));
    expect(plain(record('{"a":1}'))).toEqual({ MessageBody: JSON.stringify(record('{"a":1}')) });
  });
});

describe('a schedule', () => {
  test('has a rate', () => {
    expect(secondsOf('rate(10 minutes)', 'S')).toBe(600);
    expect(secondsOf('rate(1 hour)', 'S')).toBe(3600);
  });

  test.each(['rate(0 minutes)', 'rate(1 second)', 'cron(0 * * * ? *)', 'rate(1)'])(
    'with another expression is refused: %s',
    (expression) => {
      expect(() => secondsOf(expression, 'S')).toThrow(expression);
    },
  );
});
