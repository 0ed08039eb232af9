/** Rows of the tables workspaces and workspace_builds, as others see them. */
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { JobRecord } from './jobs.ts';
import type { TemplateRecord, TemplateVersion } from './templates.ts';
import type { Transition } from './transition.ts';
import type { UserRecord } from './users.ts';

export type Due = {
  readonly at: number;
  /** Whether only later than `at`. */
  readonly later: boolean;
  /** Undefined: no build, only the mark. */
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
  /** How long it runs after a start; 0 = without end. @default that of the template */
  readonly ttlMs?: number;
  /** Whether its latest build is a start. @default false: a stop */
  readonly running?: boolean;
  /** When its latest build succeeded, and it was used for the last time. @default now */
  readonly since?: EpochMs;
  /** Why its latest build was made. @default 'initiator' */
  readonly reason?: BuildReason;
  /** Its latest build so far, of which it takes the job and the reason. @default one of its own, at `since`, by its owner */
  readonly latest?: Pick<BuildRecord, 'job' | 'reason'>;
  /** @default not dormant */
  readonly dormantAt?: EpochMs;
  /** @default the user that the world begins with, who is active */
  readonly owner?: UserRecord;
  /** Who asks for its builds. @default the owner */
  readonly initiator?: UserRecord;
  /** @default false */
  readonly prebuilt?: boolean;
  /** Whether its builds fail, unless they say otherwise themselves. @default false */
  readonly willFail?: boolean;
  /**
   * Whether its builds keep the template version of the one before, as coderd's do unless the template or the workspace
   * is set to update by itself; the gate asks for the tags of the active one all the same. @default false: builds the active version
   */
  readonly keepsVersion?: boolean;
  /** Tags that its own parameters give its builds beside those of the version (`coder_workspace_tags`). @default none */
  readonly ownTags?: Tags;
  /** Whether coderd can't insert a build of it: a required parameter has no value, say. @default false */
  readonly refusesBuilds?: boolean;
  /** How long its builds take. @default as its template's */
  readonly buildMs?: number;
};

/** A row of workspace_builds. */
export type BuildRecord = {
  readonly id: string;
  readonly number: number;
  readonly transition: Transition;
  readonly reason: BuildReason;
  readonly createdAt: EpochMs;
  readonly version: TemplateVersion;
  readonly job: JobRecord;
  readonly deadline: EpochMs | undefined;
  readonly maxDeadline: EpochMs | undefined;
};

/** A workspace, live: a record taken earlier shows what has happened since. */
export type WorkspaceRecord = Required<
  Omit<NewWorkspace, 'schedule' | 'since' | 'reason' | 'latest' | 'running' | 'dormantAt' | 'buildMs'>
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
  /** What the lifecycle executor would do with it as it is, the first that is due. */
  readonly transitions: readonly Due[];
};
