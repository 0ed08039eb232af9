/** Rows of the tables workspaces and workspace_builds, as read by other parts. */
import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { JobRecord } from './jobs.ts';
import type { TemplateRecord, TemplateVersion, Transition } from './templates.ts';
import type { UserRecord } from './users.ts';

export type Due = {
  readonly at: number;
  /** Whether it is due only after `at`, not at `at`. */
  readonly later: boolean;
  /** Undefined: coderd only marks the workspace, without a build. */
  readonly transition: Transition | undefined;
  readonly reason: BuildReason;
};

export type BuildReason = 'initiator' | 'autostart' | 'autostop' | 'dormancy' | 'autodelete';

export type NewWorkspace = {
  readonly template: TemplateRecord;
  /** @default `workspace-1`, … */
  readonly name?: string;
  /** `CRON_TZ=Europe/Berlin 0 9 * * 1-5`. @default none */
  readonly schedule?: string;
  /** How long it runs after a start, in milliseconds; 0 = without end. @default that of the template */
  readonly ttlMs?: number;
  /** Whether its latest build is a start. @default false: a stop */
  readonly running?: boolean;
  /** When its latest build succeeded and the workspace was last used. @default now */
  readonly since?: EpochMs;
  /** The reason of its latest build. @default 'initiator' */
  readonly reason?: BuildReason;
  /** Its latest build, from which job and reason are taken. @default a new one at `since`, by its owner */
  readonly latest?: Pick<BuildRecord, 'job' | 'reason'>;
  /** @default not dormant */
  readonly dormantAt?: EpochMs;
  /** @default the first user of the world, who is active */
  readonly owner?: UserRecord;
  /** The initiator of its builds. @default the owner */
  readonly initiator?: UserRecord;
  /** @default false */
  readonly prebuilt?: boolean;
  /** The preset of its first build. @default none */
  readonly presetId?: string;
  /** Whether its builds fail by default. @default false */
  readonly willFail?: boolean;
  /**
   * Whether builds keep the version of the previous build. The gate needs the tags of the active version in any
   * case. @default false: builds the active version
   */
  readonly keepsVersion?: boolean;
  /** Tags that its parameters add to those of the version (`coder_workspace_tags`). @default none */
  readonly ownTags?: Tags;
  /** As if a required parameter had no value. @default false */
  readonly refusesBuilds?: boolean;
  /** How long its builds take, in milliseconds. @default as its template's */
  readonly buildMs?: number;
};

export type BuildRecord = {
  readonly id: string;
  readonly number: number;
  readonly transition: Transition;
  readonly reason: BuildReason;
  readonly createdAt: EpochMs;
  readonly version: TemplateVersion;
  /** The preset that its parameters are those of. */
  readonly presetId: string | undefined;
  readonly job: JobRecord;
  readonly deadline: EpochMs | undefined;
};

/** A workspace. The record is live: it changes with the workspace. */
export type WorkspaceRecord = Required<
  Omit<
    NewWorkspace,
    'schedule' | 'since' | 'reason' | 'latest' | 'running' | 'dormantAt' | 'buildMs' | 'presetId'
  >
> & {
  readonly id: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly createdAt: EpochMs;
  readonly schedule: string | undefined;
  readonly nextStartAt: EpochMs | undefined;
  readonly buildMs: number | undefined;
  readonly lastUsedAt: EpochMs;
  readonly dormantAt: EpochMs | undefined;
  readonly deletingAt: EpochMs | undefined;
  readonly latestBuild: BuildRecord;
  /** What the lifecycle executor would do with it, the first due transition first. */
  readonly transitions: readonly Due[];
};
