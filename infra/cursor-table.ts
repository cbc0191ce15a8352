import { RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';

/**
 * How far each watch has come. It holds no data of the cluster, and what is lost is found again by one list: so it goes
 * with the stack. DynamoDB encrypts every table.
 */
export const createCursorTable = (scope: Construct, id: string): Table =>
  new Table(scope, id, {
    tableName: 'podless-cursors',
    partitionKey: { name: 'id', type: AttributeType.STRING },
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    removalPolicy: RemovalPolicy.DESTROY,
  });
