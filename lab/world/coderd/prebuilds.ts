/**
 * coderd's reconciler of prebuilt workspaces (docs/internals/coder.md §10, "Prebuilt workspaces"), of enterprise
 * coderd. A preset is one of one template version: a new version has new presets.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../base/random.ts';
import { PREBUILDS_USER } from './tables/jobs.ts';
import type { TemplateRecord, TemplateVersion } from './tables/templates.ts';
import type { UserRecord } from './tables/users.ts';
import type { BuildRecord, WorkspaceRecord } from './tables/workspace-records.ts';
import type { WorkspaceTable } from './tables/workspaces.ts';

/** The options of coderd, by the end of their names CODER_WORKSPACE_PREBUILDS_…. */
export type PrebuildOptions = {
  /** RECONCILIATION_BACKOFF_INTERVAL. @default a minute */
  readonly backoffMs?: number;
  /** RECONCILIATION_BACKOFF_LOOKBACK_PERIOD. @default an hour */
  readonly lookbackMs?: number;
  /** FAILURE_HARD_LIMIT; 0: none. @default 3 */
  readonly failureHardLimit?: number;
};

export type NewPreset = {
  readonly template: TemplateRecord;
  /** @default `preset-1`, … */
  readonly name?: string;
  readonly instances: number;
  /** Whether the builds of its prebuilt workspaces fail. @default false */
  readonly willFail?: boolean;
};

/** A preset of the version that was active when it was added. A test may change how it builds. */
export type Preset = Required<Omit<NewPreset, 'willFail'>> & {
  readonly id: string;
  readonly version: TemplateVersion;
  willFail: boolean;
};

type Parts = {
  readonly workspaces: WorkspaceTable;
  readonly random: Random;
  readonly cancel: (build: BuildRecord) => void;
  readonly hasHardLimit: boolean;
  /** Whether this release cancels the pending builds of a version that is no longer active. */
  readonly cancelsPending: boolean;
};

/** RECONCILIATION_INTERVAL since 2.25. */
export const RECONCILE_EVERY_MS = 60_000;

const DEFAULTS = { backoffMs: 60_000, lookbackMs: 3_600_000, failureHardLimit: 3 };
/** Nothing was built yet, so the deletion has nothing to do. */
const ORPHAN_DELETE_MS = 1_000;

export class Prebuilds {
  readonly #parts: Parts;
  readonly #options: Required<PrebuildOptions>;
  readonly #presets: Preset[] = [];
  /** The owner of prebuilt workspaces. A system user is in no list of users. */
  readonly #user: UserRecord;

  constructor(parts: Parts, options: PrebuildOptions, now: EpochMs) {
    this.#parts = parts;
    this.#options = { ...DEFAULTS, ...options };
    const times = { createdAt: now, updatedAt: now };
    this.#user = { id: PREBUILDS_USER, username: 'prebuilds', status: 'active', ...times };
  }

  get hasPresets(): boolean {
    return this.#presets.length > 0;
  }

  add({ name = `preset-${this.#presets.length + 1}`, willFail = false, ...preset }: NewPreset): Preset {
    const { activeVersion: version } = preset.template;
    const added: Preset = { ...preset, name, version, willFail, id: this.#parts.random.uuid() };
    this.#presets.push(added);
    return added;
  }

  ofVersion(id: string): readonly Preset[] {
    return this.#presets.filter(({ version }) => version.id === id);
  }

  /** The prebuilt workspaces of a preset that nobody has claimed, oldest first. */
  of({ id }: Preset): readonly WorkspaceRecord[] {
    const all = this.#parts.workspaces.all();
    return all.filter(({ prebuilt, latestBuild }) => prebuilt && latestBuild.presetId === id);
  }

  /** Whether coderd makes no more of this preset because the newest ones have all failed. */
  isAtLimit(preset: Preset): boolean {
    return preset.template.activeVersion === preset.version && this.#isAtLimit(newestStarts(this.of(preset)));
  }

  reconcile(now: EpochMs): void {
    for (const preset of this.#presets) this.#reconcile(preset, now);
  }

  #reconcile(preset: Preset, now: EpochMs): void {
    const workspaces = this.of(preset);
    const ready = workspaces.filter(isReady);
    if (preset.template.activeVersion !== preset.version || preset.template.deprecated !== '') {
      if (this.#parts.cancelsPending) for (const one of workspaces.filter(isPending)) this.#orphan(one);
      for (const one of ready) this.#delete(one);
      return;
    }
    const starts = newestStarts(workspaces);
    if (this.#isBackingOff(preset, starts, now)) return;
    for (const one of ready.slice(0, Math.max(0, ready.length - preset.instances))) this.#delete(one);
    const starting = starts.filter(({ job }) => job.status === 'pending' || job.status === 'running');
    if (this.#isAtLimit(starts)) return;
    for (let left = preset.instances - ready.length - starting.length; left > 0; left--) this.#create(preset);
  }

  /** GetPresetsBackoff: whether one of the newest builds has failed, and it is too early to try again. */
  #isBackingOff({ instances }: Preset, starts: readonly BuildRecord[], now: EpochMs): boolean {
    const { backoffMs, lookbackMs } = this.#options;
    const isRecent = ({ createdAt }: BuildRecord): boolean => createdAt >= now - lookbackMs;
    const [last] = starts.slice(0, instances).filter((build) => hasFailed(build) && isRecent(build));
    const failed = starts.filter((build) => hasFailed(build) && isRecent(build)).length;
    return last !== undefined && now <= last.createdAt + failed * backoffMs;
  }

  /** GetPresetsAtFailureLimit: whether the newest builds have all failed. */
  #isAtLimit(starts: readonly BuildRecord[]): boolean {
    const { failureHardLimit: limit } = this.#options;
    const newest = starts.slice(0, limit);
    return this.#parts.hasHardLimit && limit > 0 && newest.length === limit && newest.every(hasFailed);
  }

  #create({ template, willFail, id: presetId }: Preset): void {
    const name = `prebuild-${this.#parts.random.hex(12)}`;
    this.#parts.workspaces.create({ template, name, owner: this.#user, prebuilt: true, willFail, presetId });
  }

  #delete({ id }: WorkspaceRecord): void {
    this.#parts.workspaces.build(id, { transition: 'delete', reason: 'initiator', willFail: false });
  }

  #orphan({ id, latestBuild }: WorkspaceRecord): void {
    this.#parts.cancel(latestBuild);
    const build = { transition: 'delete', reason: 'initiator', willFail: false } as const;
    this.#parts.workspaces.build(id, { ...build, durationMs: ORPHAN_DELETE_MS });
  }
}

/** The latest builds of these workspaces that are starts, newest first, whoever asked for them. */
function newestStarts(workspaces: readonly WorkspaceRecord[]): readonly BuildRecord[] {
  return workspaces
    .map(({ latestBuild }) => latestBuild)
    .filter(({ transition }) => transition === 'start')
    .toSorted((a, b) => b.createdAt - a.createdAt);
}

function hasFailed({ job }: BuildRecord): boolean {
  return job.status === 'failed';
}

function isReady({ latestBuild: { transition, job } }: WorkspaceRecord): boolean {
  return transition === 'start' && job.status === 'succeeded';
}

function isPending({ latestBuild: { transition, job, number } }: WorkspaceRecord): boolean {
  return transition === 'start' && job.status === 'pending' && number === 1;
}
