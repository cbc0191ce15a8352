import { digestOf, type Owner } from '../../runtime/children/child.ts';
import { ConflictError } from '../../runtime/children/conflict.ts';
import type { HelmReleases, ReleaseRef, ReleaseReport } from '../../runtime/helm/release.ts';
import { ownerText } from '../../runtime/labels.ts';
import type { FaultPoint } from './runtime-crash.ts';

interface Stored {
  readonly owner: string;
  readonly content: string;
  readonly revision: number;
}

/** Helm releases that are only notes. */
export function createMemoryReleases() {
  const stored = new Map<string, Stored>();
  const keyOf = ({ name, namespace }: ReleaseRef) => `${namespace}/${name}`;
  const named = ({ object }: Owner) => ownerText(object.metadata);
  const releases: HelmReleases = {
    reconcile: async (wanted, { dryRun }): Promise<ReleaseReport> => {
      const { name, namespace, chart, values } = wanted;
      const key = keyOf(wanted);
      const found = stored.get(key);
      const owner = named(wanted.owner);
      if (found && found.owner !== owner) {
        const kind = { group: '', version: '', kind: 'Helm release', plural: '' };
        throw new ConflictError({ kind, namespace, name }, found.owner);
      }
      const content = digestOf({ chart: chart.digest, values });
      const report = {
        name,
        namespace,
        manifestDigest: content,
        readiness: { ready: true },
        plan: [],
      } as const;
      if (found?.content === content || dryRun) {
        return { ...report, revision: found?.revision ?? 0, action: 'none' };
      }
      const revision = (found?.revision ?? 0) + 1;
      stored.set(key, { owner, content, revision });
      return { ...report, revision, action: found ? 'upgraded' : 'installed' };
    },
    remove: async (release, owner, { dryRun }) => {
      const key = keyOf(release);
      if (stored.get(key)?.owner !== named(owner)) return [];
      if (!dryRun) stored.delete(key);
      return [{ action: 'delete', subject: `release ${key}`, detail: '' }];
    },
  };
  return { releases, names: async () => [...stored.keys()] };
}

/** Lets calls to Helm fail as the plan has it: before, or after they were carried out. */
export const withFaults = (releases: HelmReleases, { attempt }: FaultPoint): HelmReleases => ({
  reconcile: (...call) => attempt(() => releases.reconcile(...call)),
  remove: (...call) => attempt(() => releases.remove(...call)),
});
