import { describe, expect, test } from 'vitest';
import { deployedOf } from '../../runtime/aws/deployed-operators.ts';
import { environmentNames } from '../../runtime/aws/environment.ts';
import { widgetOperator } from '../helpers/runtime-widget.ts';

const gadget = { ...widgetOperator, name: 'gadget' };
const all = [widgetOperator, gadget];

describe('the operators that a function serves', () => {
  test('are those that were deployed', () => {
    expect(deployedOf(all, { [environmentNames.operators]: 'gadget' })).toEqual([gadget]);
  });

  test('are all there are where nobody has chosen', () => {
    expect(deployedOf(all, {})).toEqual(all);
  });

  test.each(['', 'gadget,', 'Gadget', 'other'])(
    'cannot be %j: the function fails at its start',
    (names) => {
      expect(() => deployedOf(all, { [environmentNames.operators]: names })).toThrow(
        `environment variable ${environmentNames.operators} must name operators of ${widgetOperator.name}, gadget, got`,
      );
    },
  );
});
