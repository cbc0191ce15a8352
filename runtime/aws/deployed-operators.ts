import type { Operator } from '../operator.ts';
import { environmentNames } from './environment.ts';
import type { Environment } from './environment-reader.ts';

/** Those that were deployed, as the environment says: the code knows them all. Throws for a name that none has. */
export function deployedOf(
  operators: readonly Operator[],
  environment: Environment,
): readonly Operator[] {
  const listed = environment[environmentNames.operators];
  if (listed === undefined) return operators;
  return listed.split(',').map((name) => {
    const found = operators.find((operator) => operator.name === name);
    if (found) return found;
    const known = operators.map((operator) => operator.name).join(', ');
    throw new Error(
      `environment variable ${environmentNames.operators} must name operators of ${known}, got ${JSON.stringify(name)}`,
    );
  });
}
