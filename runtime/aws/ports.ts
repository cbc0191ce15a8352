import type { Clock } from '../clock.ts';
import type { CursorStore, EventBus, Inbox, WorkQueue } from '../cloud.ts';
import type { Environment } from './environment-reader.ts';

/** What a port is made of. */
export interface PortContext {
  readonly environment: Environment;
  readonly region: string;
  readonly clock: Clock;
}

/** Makes a port, but no call, while the function starts. Throws if the environment does not say all that the port needs. */
export type PortFactory<Port> = (context: PortContext) => Port;

/** The cloud ports that a function uses. Only what is named here is part of its bundle. */
export interface CloudPorts {
  readonly bus?: PortFactory<EventBus>;
  readonly cursors?: PortFactory<CursorStore>;
  /** Of each operator, by its name. */
  readonly inboxes?: PortFactory<ReadonlyMap<string, Inbox>>;
  readonly workQueues?: PortFactory<ReadonlyMap<string, WorkQueue>>;
}
