import { ServiceError } from './service-error.ts';

const account = '000000000000';

/** name, name:qualifier, account:function:name, or the whole ARN. */
const pattern =
  /^(?:(?:arn:aws[\w-]*:lambda:[\w-]+:)?\d{12}:function:)?([\w-]{1,140})(?::(?:\$LATEST|[\w-]+))?$/;

/** The plain name in any form in which AWS clients may give it. */
export function parseFunctionName(text: string): string {
  const name = pattern.exec(text)?.[1];
  if (name !== undefined) return name;
  throw new ServiceError(
    400,
    'ValidationException',
    `1 validation error detected: Value '${text.slice(0, 200)}' at 'functionName' failed to satisfy constraint: ` +
      'must be a function name, a partial ARN or an ARN',
  );
}

export const functionArn = (name: string, region: string): string =>
  `arn:aws:lambda:${region}:${account}:function:${name}`;
