import type { Clock } from '../clock.ts';
import type { CursorStore, EventBus } from '../cloud.ts';
import { createEksClients } from '../kube/eks-clients.ts';
import { createLog, type LogLevel } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Platform } from '../platform.ts';
import { environmentNames } from './environment.ts';
import { type Environment, readRegion, readVariable } from './environment-reader.ts';
import type { CloudPorts } from './ports.ts';

/** What the process around a function gives it. */
export interface LambdaHost {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Takes text for the log. */
  readonly write: (text: string) => unknown;
}

export interface PlatformHost extends Pick<LambdaHost, 'environment' | 'clock'> {
  /** Takes one log line. */
  readonly write: (line: object) => void;
  readonly metrics: Metrics;
}

/** The platform of a function on Lambda, as its environment describes it. Makes no call. */
export function createLambdaPlatform(ports: CloudPorts, host: PlatformHost): Platform {
  const { clock, metrics, write } = host;
  const environment = { ...host.environment };
  const region = readRegion(environment);
  const clusters = readClusters(environment);
  const context = { environment, region, clock };
  const eks = createEksClients({ clusters, region, clock });
  return {
    clusters,
    kube: eks.kube,
    kubeConnection: eks.connection,
    bus: ports.bus?.(context) ?? noBus,
    cursors: ports.cursors?.(context) ?? noCursors,
    inbox: lookUp('inboxes', ports.inboxes?.(context)),
    workQueue: lookUp('workQueues', ports.workQueues?.(context)),
    log: createLog(write, readLogLevel(environment)),
    metrics,
    clock,
    environment,
  };
}

function readClusters(environment: Environment): readonly string[] {
  const names = readVariable(environment, environmentNames.clusters, {
    expected: 'names of EKS clusters, separated by commas',
    pattern: /^[\dA-Za-z][\w-]{0,99}(,[\dA-Za-z][\w-]{0,99})*$/,
  });
  return [...new Set(names.split(','))];
}

function readLogLevel(environment: Environment): LogLevel {
  const name = environmentNames.logLevel;
  const given = { ...environment, [name]: environment[name] ?? 'info' };
  const expected = 'debug, info or error';
  return readVariable(given, name, { expected, pattern: /^(debug|info|error)$/ }) as LogLevel;
}

function lookUp<Port>(
  name: keyof CloudPorts,
  ports: ReadonlyMap<string, Port> | undefined,
): (operator: string) => Port {
  return (operator) => {
    const port = (ports ?? absent(name)).get(operator);
    if (port !== undefined) return port;
    const known = [...(ports?.keys() ?? [])].join(', ') || 'none';
    throw new Error(`operator of ${name} must be one of ${known}, got ${JSON.stringify(operator)}`);
  };
}

const noBus: EventBus = { put: async () => absent('bus') };

const noCursors: CursorStore = {
  read: async () => absent('cursors'),
  write: async () => absent('cursors'),
  clear: async () => absent('cursors'),
};

function absent(name: keyof CloudPorts): never {
  throw new Error(`port ${name} must be named in the handler.ts of a function that uses it`);
}
