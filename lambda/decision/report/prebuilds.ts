/**
 * Findings about presets whose prebuilt workspaces fail. coderd's API shows neither how often a
 * preset has failed nor its limit. Both follow from the latest builds of the prebuilt workspaces,
 * which coderd counts too (docs/internals/coder.md §10): it never deletes those that failed.
 */
import { REAPED_AFTER_MS } from '../demand/demand.ts';
import { PREBUILDS_USER } from '../demand/record.ts';
import { type EpochMs, isoTime } from '../model/brands.ts';
import { by } from '../model/collections.ts';
import type { Config } from '../model/config.ts';
import { memoized } from '../model/memoize-by-object.ts';
import type { FailingPreset, Finding } from '../model/plan.ts';
import type { OrganizationReadings, Reading, Snapshot, Template, Workspace } from '../model/snapshot.ts';
import { compareVersion, LIMITS_PRESETS_SINCE } from '../model/version.ts';

/** One failure can be chance. */
const FEWEST_FAILURES = 2;
/** Without a limit, so many failures in a row are a finding. */
const FAILURES_WITHOUT_LIMIT = 3;
/** coderd tries a preset that fails again within this time. Older failures are another matter. */
const RETRIED_WITHIN_MS = 2 * 3_600_000;

type PresetFinding = Extract<Finding, FailingPreset>;

type Preset = {
  readonly id: string;
  readonly organization: OrganizationReadings;
  /** The prebuilt workspaces that count, those with the newest builds first. */
  readonly newest: readonly Workspace[];
};

/** Derives the findings about presets of active versions, in order of template and preset. */
export function prebuildFindings(
  snapshot: Snapshot,
  { coder: { prebuildsFailureHardLimit } }: Config,
): readonly PresetFinding[] {
  const { buildInfo, organizations } = snapshot.coder;
  const hasLimit = (compareVersion(buildInfo?.version, LIMITS_PRESETS_SINCE) ?? 0) >= 0;
  const limit = hasLimit ? prebuildsFailureHardLimit : 0;
  return organizations
    .flatMap(presetsOf)
    .flatMap((preset) => presetFindings(preset, limit, snapshot.takenAt))
    .toSorted(by<PresetFinding>('organization', 'template', 'preset'));
}

function presetsOf(organization: OrganizationReadings): readonly Preset[] {
  const { workspaces } = organization;
  // only a complete list shows the successes between the failures
  if (workspaces?.status !== 'ok') return [];
  return newestByPreset(workspaces).map(([id, newest]) => ({ id, organization, newest }));
}

/** As coderd counts: neither claimed ones, nor those whose latest build is no start. */
const newestByPreset = memoized(({ items }: Reading<Workspace>) => {
  const counted = items.filter(
    ({ owner_id, outdated, latest_build: { transition } }) =>
      owner_id === PREBUILDS_USER && outdated === false && transition === 'start',
  );
  const byPreset = Map.groupBy(counted, ({ latest_build }) => latest_build.template_version_preset_id);
  return [...byPreset].flatMap(([preset, alike]) =>
    preset == null ? [] : [[preset, alike.toSorted(newestFirst)] as const],
  );
});

const newestFirst = by<Workspace>((workspace) => -submittedAt(workspace), 'id');

function presetFindings(preset: Preset, limit: number, now: EpochMs): readonly PresetFinding[] {
  const template = templateOf(preset);
  if (template?.deprecated === true) return [];
  const { newest } = preset;
  const sinceNow = runOfFailures(newest);
  if (limit > 0 && sinceNow.length >= limit)
    return [{ code: 'prebuilds-stopped', limit, ...facts(preset, template, sinceNow) }];
  // the next attempt may already run
  const before = runOfFailures(newest.filter((workspace) => !isInProgress(workspace)));
  const [last] = before;
  const isRetried = last !== undefined && now - submittedAt(last) <= RETRIED_WITHIN_MS;
  const failed = isRetried ? before : sinceNow;
  const enough = limit === 0 ? FAILURES_WITHOUT_LIMIT : Math.max(FEWEST_FAILURES, (limit + 1) / 2);
  if (failed.length < enough) return [];
  const found = { limit: limit === 0 ? null : limit, ...facts(preset, template, failed) };
  return [{ code: 'prebuilds-failing', ...found }];
}

function facts(
  { id, organization }: Preset,
  template: Template | undefined,
  failed: readonly Workspace[],
): FailingPreset {
  const [newest] = failed;
  return {
    organization: organization.name,
    template: template?.name ?? newest?.template_id ?? '',
    preset: organization.presetNames?.[id] ?? id,
    failed: failed.length,
    reaped: failed.filter(isReaped).length,
    workspace: newest?.name ?? newest?.id ?? '',
    newest: isoTime(newest === undefined ? 0 : submittedAt(newest)),
  };
}

function templateOf({ organization, newest }: Preset): Template | undefined {
  const templateId = newest[0]?.template_id;
  return organization.templates?.items.find(({ id }) => id === templateId);
}

/** The failed ones before the first that has not failed. */
function runOfFailures(newest: readonly Workspace[]): readonly Workspace[] {
  const end = newest.findIndex(({ latest_build: { job } }) => job.status !== 'failed');
  return end === -1 ? newest : newest.slice(0, end);
}

function isInProgress({ latest_build: { job } }: Workspace): boolean {
  return job.status === 'pending' || job.status === 'running' || job.status === 'canceling';
}

/** coderd's reaper says that a job which it fails while it is pending has started at that moment. */
function isReaped({ latest_build: { job } }: Workspace): boolean {
  const { created_at: submitted, started_at: started, completed_at: ended } = job;
  if (submitted == null || started == null || ended == null) return false;
  return started === ended && ended - submitted >= REAPED_AFTER_MS;
}

function submittedAt({ latest_build }: Workspace): number {
  return latest_build.created_at ?? latest_build.job.created_at ?? 0;
}
