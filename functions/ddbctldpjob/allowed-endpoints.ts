import { TerminalError } from '../../runtime/errors.ts';

/**
 * Whoever may create a job must not be able to send requests of ours, signed, to any address: only to the origins that
 * were named at deploy time.
 *
 * @param allowed origins separated by commas; `*` for any; undefined for none
 */
export function createEndpointCheck(
  allowed: string | undefined,
): (endpointURL: string | undefined) => void {
  const origins = (allowed ?? '').split(',').filter(Boolean);
  return (endpointURL) => {
    if (endpointURL === undefined || origins.includes('*')) return;
    const { origin } = new URL(endpointURL);
    if (origins.includes(origin)) return;
    const expected = origins.length === 0 ? 'empty' : `empty or at ${origins.join(', ')}`;
    throw new TerminalError(
      'EndpointNotAllowed',
      `spec.endpointURL must be ${expected}, because no other was allowed at deploy time, got ${JSON.stringify(origin)}`,
    );
  };
}
