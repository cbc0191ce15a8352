import { Duration } from 'aws-cdk-lib';
import { ArnPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { IamGrant, Operator } from '../runtime/operator.ts';
import { type Charts, grantOnCharts } from './charts.ts';
import { actionsOn } from './declared-grants.ts';
import { grant, grantWildcard } from './grants.ts';
import { nameOf } from './names.ts';
import { type Tables, tableArns } from './tables.ts';

export interface OperatorRightsProps {
  readonly operator: Operator;
  readonly tables: Tables;
  readonly charts: Charts;
  /** The function's own role. */
  readonly role: Role;
}

/**
 * What an operator declares for itself. Grants marked as scoped go to a second role: the function assumes it for one object
 * at a time with a session policy that leaves only what that object needs.
 */
export class OperatorRights extends Construct {
  /** Only where the operator has scoped grants. */
  readonly scopedRole?: Role;

  constructor(scope: Construct, id: string, props: OperatorRightsProps) {
    super(scope, id);
    const { operator, role } = props;
    const scoped = operator.iam.filter((one) => one.scoped === true);
    const plain = operator.iam.filter((one) => one.scoped !== true);
    grantDeclared(role, plain, props);
    if (scoped.length === 0) return;
    const scopedRole = new Role(this, 'ScopedRole', {
      description: `${nameOf(operator.name)} assumes it for one object at a time, cut down by a session policy`,
      assumedBy: new ArnPrincipal(role.roleArn),
      maxSessionDuration: Duration.hours(1),
    });
    grantDeclared(scopedRole, scoped, props);
    grant(role, { actions: ['sts:AssumeRole'], resources: [scopedRole.roleArn] });
    this.scopedRole = scopedRole;
  }
}

function grantDeclared(
  role: Role,
  grants: readonly IamGrant[],
  { tables, charts }: Pick<OperatorRightsProps, 'tables' | 'charts'>,
): void {
  grantOnTables(role, actionsOn(grants, 'tables'), tables);
  grantOnCharts(role, actionsOn(grants, 'chartBuckets'), charts);
}

function grantOnTables(role: Role, actions: readonly string[], tables: Tables): void {
  if (actions.length === 0) return;
  grantWildcard(role, {
    actions,
    resources: tableArns(role, tables),
    reason:
      'The person who deploys named these tables by a pattern, as -c tables allows: it stands for table names only, and a bare * is refused.',
  });
}
