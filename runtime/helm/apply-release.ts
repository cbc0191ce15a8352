import type { ReconcileContext } from '../reconcile.ts';
import { releaseFailed } from './failed-release.ts';
import type { HelmAnswer } from './helm-command.ts';
import { readRevision } from './keep-release.ts';
import { readLive, refuseForeign, releaseReadiness } from './live-objects.ts';
import { isHook, manifestDigest, readStoredManifest } from './manifest.ts';
import { asInstalled } from './marks.ts';
import { planRelease } from './plan-release.ts';
import { recover } from './recover-release.ts';
import type { ReleaseReport, WantedRelease } from './release.ts';
import type { Work } from './releases.ts';
import { type Rendered, render } from './render.ts';
import { errorOf } from './safe-message.ts';
import { type Revision, readRevisions, recordOf } from './stored-release.ts';
import { applyTime, renderTime } from './time-budget.ts';

export interface Application {
  readonly wanted: WantedRelease;
  readonly digest: string;
  /** What is there now. */
  readonly before: Revision | undefined;
}

/** Installs or upgrades: render, check, then apply exactly what was checked. */
export async function applyRelease(application: Application, work: Work): Promise<ReleaseReport> {
  const { wanted, before } = application;
  const { context } = work;
  const rendered = await renderWanted(application, work);
  const installed = rendered.objects.map((object) =>
    isHook(object) ? object : asInstalled(object, wanted),
  );
  const found = await readLive(installed, context);
  refuseForeign(found, wanted, wanted.owner);
  const digest = manifestDigestOf(rendered);
  const { name, namespace } = wanted;
  if (context.dryRun) {
    const record = before && (await recordOf(before));
    const gone = readStoredManifest(record?.manifest ?? '', wanted);
    const plan = await planRelease(found, gone, context);
    const readiness = releaseReadiness(found.filter(({ object }) => !isHook(object)));
    const revision = before?.version ?? 0;
    return { name, namespace, revision, manifestDigest: digest, action: 'none', readiness, plan };
  }
  await wanted.onApply?.(before ? 'upgrade' : 'install');
  await upgrade(rendered, application, work);
  const { version, objects } = await readResult(wanted, context);
  context.log.info('release applied', { release: name, namespace, revision: version });
  return {
    name,
    namespace,
    revision: version,
    manifestDigest: digest,
    action: before ? 'upgraded' : 'installed',
    readiness: releaseReadiness(objects),
    plan: [],
  };
}

const manifestDigestOf = ({ objects }: Rendered): string =>
  manifestDigest(objects.filter((object) => !isHook(object)).map(({ body }) => body));

async function renderWanted({ wanted, before }: Application, work: Work): Promise<Rendered> {
  const { context, helm, safe } = work;
  return render(wanted, {
    helm,
    safe,
    kubeVersion: await context.kube.serverVersion(context.signal),
    isUpgrade: before !== undefined,
    limitMilliseconds: renderTime(context),
    signal: context.signal,
  });
}

async function upgrade(rendered: Rendered, application: Application, work: Work): Promise<void> {
  const { wanted, digest } = application;
  const { actions, context, safe } = work;
  const milliseconds = applyTime(context);
  const until = Math.min(context.clock.now() + milliseconds + KILL_MILLISECONDS, context.deadline);
  const marks = { digest, manifest: manifestDigestOf(rendered), owner: wanted.owner, until };
  const answer = await actions.upgrade(
    wanted,
    { rendered, values: wanted.values, marks },
    { milliseconds, signal: context.signal },
  );
  if (answer.ended === 'ok') return;
  const message = safe(`${failureOf(answer, milliseconds)}`);
  context.log.error('release failed', {
    release: wanted.name,
    ended: answer.ended,
    error: message,
  });
  const taken = await takeBack(wanted, work);
  throw releaseFailed(`${message}; ${taken}`, digest, wanted, context);
}

/** From the limit until helm is surely dead. */
const KILL_MILLISECONDS = 3_000;

function failureOf(answer: HelmAnswer, milliseconds: number): string {
  const told = errorOf(answer.stderr).replace(/^(INSTALLATION|UPGRADE) FAILED: /, '');
  if (answer.ended === 'failed') return told === '' ? `helm ended with code ${answer.code}` : told;
  const seconds = Math.round(milliseconds / 100) / 10;
  return `helm was not done after ${seconds} s${told === '' ? '' : ` (${told})`}`;
}

/** How it is after a failure, in words. */
async function takeBack(wanted: WantedRelease, work: Work): Promise<string> {
  try {
    const left = await recover(wanted, work);
    return left ? `rolled back, which is revision ${left.version}` : 'removed again';
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `it could not be taken back yet: ${work.safe(why)}`;
  }
}

async function readResult(wanted: WantedRelease, context: ReconcileContext) {
  const [newest] = await readRevisions(wanted, context.kube, { signal: context.signal });
  const objects = newest ? await readRevision(newest, wanted, context) : [];
  return { version: newest?.version ?? 0, objects };
}
