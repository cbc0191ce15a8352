import { Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { expect, test } from 'vitest';
import { grant } from '../../infra/grants.ts';
import { rateOf } from '../../infra/schedules.ts';

test.each(['*', 'arn:aws:s3:::bucket/*'])(
  'a grant on %s without a reason is refused',
  (resource) => {
    const role = new Role(new Stack(), 'Role', { assumedBy: new AccountRootPrincipal() });
    expect(() => grant(role, { actions: ['s3:GetObject'], resources: [resource] })).toThrow(
      `resource must have no * where no reason is given, got ${resource}`,
    );
  },
);

test.each([0, 30, 90, 61.5])('a schedule every %s seconds is refused', (seconds) => {
  expect(() => rateOf(seconds)).toThrow(`must be whole minutes, got ${seconds} seconds`);
});
