import type { KubeConnection } from '../kube/transport.ts';
import { type Helm, type HelmAnswer, KUBECONFIG_FILE } from './helm-command.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import type { ReleaseRef } from './release.ts';
import { labelsFor, type ReleaseMarks } from './release-labels.ts';
import { type Rendered, VALUES_FILE } from './render.ts';
import { sealedChart } from './sealed-chart.ts';
import { helmTimeout } from './time-budget.ts';

/** Revisions that Helm keeps. */
const HISTORY = 10;
const CHART_FOLDER = 'chart';

/** Every write to a release is one of these, carried out by Helm itself. */
export interface HelmActions {
  /** Installs it if there is none. */
  upgrade(release: ReleaseRef, wanted: Upgrade, limit: Limit): Promise<HelmAnswer>;
  rollback(release: ReleaseRef, version: number, limit: Limit): Promise<HelmAnswer>;
  uninstall(release: ReleaseRef, limit: Limit): Promise<HelmAnswer>;
}

export interface Upgrade {
  readonly rendered: Rendered;
  readonly values: object;
  readonly marks: ReleaseMarks;
}

export interface Limit {
  readonly milliseconds: number;
  readonly signal?: AbortSignal;
  /** Default true. */
  readonly hooks?: boolean;
}

/** @param connect to the cluster; asked before each action, since tokens run out */
export function createHelmActions(helm: Helm, connect: () => Promise<KubeConnection>): HelmActions {
  const run = async (
    { namespace }: ReleaseRef,
    args: readonly string[],
    { milliseconds, signal, hooks = true }: Limit,
    files: ReadonlyMap<string, string> = new Map(),
  ): Promise<HelmAnswer> =>
    helm({
      args: [
        ...args,
        ...['--namespace', namespace, '--timeout', helmTimeout(milliseconds)],
        ...(hooks ? [] : ['--no-hooks']),
      ],
      files: new Map([...files, [KUBECONFIG_FILE, await kubeconfigOf(await connect())]]),
      limitMilliseconds: milliseconds,
      ...(signal && { signal }),
    });
  // Fields that the chart sets are taken back from whoever has changed them; all others are left alone.
  const applying = ['--server-side=true', '--force-conflicts', '--history-max', String(HISTORY)];
  return {
    upgrade: (release, { rendered, values, marks }, limit) => {
      const chart = sealedChart(rendered.metadata, rendered.objects);
      const files = new Map([
        ...[...chart].map(([path, text]): [string, string] => [`${CHART_FOLDER}/${path}`, text]),
        [VALUES_FILE, JSON.stringify(values)] as const,
      ]);
      const args = ['upgrade', '--install', release.name, CHART_FOLDER, ...applying];
      const more = ['--values', VALUES_FILE, '--labels', labelsFor(marks)];
      return run(release, [...args, ...more], limit, files);
    },
    rollback: (release, version, limit) =>
      run(release, ['rollback', release.name, String(version), ...applying], limit),
    uninstall: (release, limit) =>
      run(release, ['uninstall', release.name, '--ignore-not-found'], limit),
  };
}
