import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** The DynamoDB tables named at deploy time: the only ones any operator can touch. */
export interface Tables {
  /** Names, or patterns with `*`. */
  readonly names: readonly string[];
  /** Default: the stack's region. */
  readonly regions?: readonly string[];
}

export const tableArns = (scope: Construct, { names, regions }: Tables): readonly string[] => {
  const stack = Stack.of(scope);
  return (regions ?? [stack.region]).flatMap((region) =>
    names.map((resourceName) =>
      stack.formatArn({ service: 'dynamodb', region, resource: 'table', resourceName }),
    ),
  );
};
