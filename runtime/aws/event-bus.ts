import type { EventBus } from '../cloud.ts';
import { environmentNames } from './environment.ts';
import { readVariable } from './environment-reader.ts';
import type { PortFactory } from './ports.ts';

/** The bus that the environment names. Its client is loaded when there is something to send: a shift may have nothing. */
export const eventBus: PortFactory<EventBus> = ({ environment, region, clock }) => {
  const name = readVariable(environment, environmentNames.bus, {
    expected: 'the name of an event bus',
    pattern: /^[\w./-]{1,256}$/,
  });
  let bus: Promise<EventBus> | undefined;
  const load = async (): Promise<EventBus> => {
    const { openEventBus } = await import('./event-bridge.ts');
    return openEventBus({ name, region, clock });
  };
  return {
    put: async (hints, signal) => {
      bus ??= load();
      return (await bus).put(hints, signal);
    },
  };
};
