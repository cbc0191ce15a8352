import { Aws } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';

/** An AWS service, only where it acts for that resource of this account: nobody else can make it use our roles. */
export const servicePrincipal = (service: 'pipes' | 'scheduler', sourceArn: string) =>
  new ServicePrincipal(`${service}.amazonaws.com`, {
    conditions: {
      StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
      ArnEquals: { 'aws:SourceArn': sourceArn },
    },
  });
