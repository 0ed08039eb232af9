/**
 * A model of coderd on a virtual clock: the only coderd that our tests have, so it is not kind. It holds the tables,
 * runs what coderd runs by itself, and lets daemons in; `http.ts` is its face, `job-list.ts` and `daemon-list.ts` are
 * what it shows. The facts are those of Coder's source (contract), the releases' differences stand in `versions.ts`.
 */

import type { JobId, OrganizationId } from '../../lambda/core/brands.ts';
import { normalizeTags, type Tags, tagKey } from '../../lambda/core/tags.ts';
import type { DaemonConnection, DaemonServer } from '../daemon-connection.ts';
import type { Random } from '../random.ts';
import type { Timeline } from '../timeline.ts';
import { Acquirer } from './acquirer.ts';
import { admit } from './admission.ts';
import { runBuiltInDaemon } from './built-in-daemons.ts';
import { type DaemonAnswer, type DaemonQuery, listDaemons } from './daemon-list.ts';
import { type DaemonRecord, DaemonTable } from './daemons.ts';
import { type JobAnswer, type JobQuery, jobAnswer, listJobs } from './job-list.ts';
import {
  type Job,
  type JobRecord,
  JobTable,
  type JobType,
  type JobWorkspace,
  type NewJob,
  PREBUILDS_USER,
  type Transition,
} from './jobs.ts';
import { builtInKey, type ProvisionerKey, ProvisionerKeys } from './keys.ts';
import { runLifecycle } from './lifecycle-executor.ts';
import { Organizations } from './organizations.ts';
import { PendingQueue } from './pending-queue.ts';
import { PURGE_EVERY_MS, purgeDaemons, REAP_EVERY_MS, reapJobs } from './reapers.ts';
import { CoderdRefusal } from './refusal.ts';
import { Sessions } from './sessions.ts';
import { type NewTemplate, type TemplateRecord, type TemplateSettings, TemplateTable } from './templates.ts';
import { Tokens } from './tokens.ts';
import { type NewUser, type UserRecord, type UserStatus, Users } from './users.ts';
import { CoderVersion, DEFAULT_RELEASE } from './versions.ts';
import {
  type BuildRecord,
  type NewBuild,
  type NewWorkspace,
  newBuild,
  type WorkspaceRecord,
  WorkspaceTable,
} from './workspaces.ts';

export type CoderdOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  /** @default `DEFAULT_RELEASE` */
  readonly version?: string;
  /** How often the lifecycle executor looks: CODER_AUTOBUILD_POLL_INTERVAL. @default a minute */
  readonly autobuildPollMs?: number;
  /** Names. The default organization is that called `default`, or else the first. */
  readonly organizations: readonly string[];
  /** Whether external daemons are licensed. @default true */
  readonly licensed?: boolean;
};

/** Whether external daemons are licensed (contract §3). */
export type Licence = 'entitled' | 'grace_period' | 'not_entitled';

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;

/** A job as a person, a template push or the prebuilds reconciler inserts it. */
export type SubmittedJob = {
  readonly organization: string;
  readonly tags: Tags;
  readonly durationMs: number;
  /** @default 'user' */
  readonly initiator?: 'user' | 'prebuilds';
  /** @default 'workspace_build' */
  readonly type?: JobType;
  /** Of workspace builds. @default 'start' */
  readonly transition?: Transition;
  /** @default false */
  readonly willFail?: boolean;
};

export class CoderdModel implements DaemonServer {
  readonly timeline: Timeline;
  readonly version: CoderVersion;
  readonly deploymentId: string;
  /** Owns and builds everything but the prebuilds, and the workspaces of `addUser`'s. */
  readonly userId: string;
  readonly organizations: Organizations;
  readonly tokens: Tokens;
  readonly #random: Random;
  readonly #keys: ProvisionerKeys;
  readonly #jobs: JobTable;
  readonly #daemons: DaemonTable;
  readonly #queue: PendingQueue;
  readonly #acquirer: Acquirer;
  readonly #templates: TemplateTable;
  readonly #users: Users;
  readonly #workspaces: WorkspaceTable;
  readonly #sessions: Sessions;
  #builtIns = 0;
  #workspaceCount = 0;
  #licence: Licence;

  constructor(options: CoderdOptions) {
    const { timeline, random } = options;
    const release = options.version ?? DEFAULT_RELEASE;
    this.timeline = timeline;
    this.#random = random;
    // buildinfo and daemons show the commit too: v2.34.0+3006da5 (contract §2)
    this.version = new CoderVersion(release.includes('+') ? release : `${release}+${random.hex(7)}`);
    this.#licence = (options.licensed ?? true) ? 'entitled' : 'not_entitled';
    this.deploymentId = random.uuid();
    this.#users = new Users(random);
    const owner = this.#users.add({ username: 'user' }, timeline.now());
    this.userId = owner.id;
    this.organizations = new Organizations({ names: options.organizations, random, now: timeline.now() });
    this.tokens = new Tokens(random, { fixesEnds: this.version.does('fixesTokenEnds') });
    this.#keys = new ProvisionerKeys(random);
    this.#daemons = new DaemonTable(random);
    this.#templates = new TemplateTable(random);
    this.#workspaces = new WorkspaceTable({
      random,
      now: () => timeline.now(),
      name: () => this.#nameWorkspace(),
      owner,
      rules: { cleansUpFailedStops: this.version.does('cleansUpFailedStops') },
      insert: (job, onInserted) => this.#insert(job, onInserted),
    });
    this.#jobs = new JobTable((job) => this.#workspaces.jobCompleted(job));
    this.#queue = new PendingQueue({ prebuildsLast: this.version.does('runsPrebuildsLast') });
    this.#acquirer = new Acquirer(this.#queue, random);
    this.#sessions = new Sessions({
      timeline,
      jobs: this.#jobs,
      daemons: this.#daemons,
      acquirer: this.#acquirer,
    });
    this.#startLoops(options.autobuildPollMs ?? MINUTE_MS);
  }

  organizationId(name: string): OrganizationId {
    return this.organizations.named(name).id;
  }

  /** Returns the key's secret, 43 characters. Throws CoderdRefusal: 400 bad name, 404 organization, 409 duplicate. */
  addKey(key: { readonly organization: string; readonly name: string; readonly tags: Tags }): string {
    return this.#keys.add({ ...key, organizationId: this.organizationId(key.organization) });
  }

  keyWithSecret(secret: string): ProvisionerKey | undefined {
    return this.#keys.withSecret(secret);
  }

  /** Its daemon rows vanish at once; its live sessions work on (up to 2.36) or are closed when free (contract §3). */
  deleteKey(organization: string, name: string): void {
    const { id } = this.#keys.delete(this.organizationId(organization), name);
    this.#daemons.deleteWhere(({ keyId }) => keyId === id);
    if (!this.version.does('closesSessionsOfDeletedKeys')) return;
    this.#sessions.closeOfKey(id);
  }

  /**
   * Returns a session token of a new user; `canRead`: where it may read jobs and daemons, `canReadWorkspaces`: where workspaces and
   * templates too, `canReadMembers`: where other members too, all by organization name. @default as `canRead`, no owner, a year
   */
  addToken(token: {
    readonly canRead: 'all' | readonly string[];
    readonly canReadWorkspaces?: 'all' | readonly string[];
    readonly canReadMembers?: 'all' | readonly string[];
    readonly isOwner?: boolean;
    readonly lifetimeMs?: number;
  }): string {
    const { canRead, canReadWorkspaces = canRead, canReadMembers = canRead } = token;
    const { isOwner = false, lifetimeMs = YEAR_MS } = token;
    const idsOf = (names: 'all' | readonly string[]) =>
      names === 'all' ? names : new Set(names.map((name) => this.organizationId(name)));
    return this.tokens.add({
      isOwner,
      canRead: idsOf(canRead),
      canReadWorkspaces: idsOf(canReadWorkspaces),
      canReadMembers: idsOf(canReadMembers),
      lifetimeMs,
      now: this.timeline.now(),
    });
  }

  get licence(): Licence {
    return this.#licence;
  }

  setLicence(licence: Licence): void {
    this.#licence = licence;
  }

  revokeToken(token: string): void {
    this.tokens.revoke(token);
  }

  /** Its workspace, if it builds one, is known to nothing but the job: for those that live on there is `build`. */
  submitJob(job: SubmittedJob): JobId {
    const type = job.type ?? 'workspace_build';
    const organizationId = this.organizationId(job.organization);
    const tags = normalizeTags(job.tags);
    const template = this.#templates.forJobs(organizationId, tags, this.timeline.now());
    return this.#insert({
      organizationId,
      tags,
      durationMs: job.durationMs,
      initiatorId: job.initiator === 'prebuilds' ? PREBUILDS_USER : this.userId,
      type,
      transition: type === 'workspace_build' ? (job.transition ?? 'start') : undefined,
      template,
      version: template.activeVersion,
      workspace: type === 'workspace_build' ? this.#nameWorkspace() : undefined,
      willFail: job.willFail ?? false,
    });
  }

  /**
   * Throws CoderdRefusal: 404 unknown, 400 completed or cancelled before. A pending job is canceled at once; a running
   * one is canceling until its daemon completes it.
   */
  cancelJob(id: JobId): void {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new CoderdRefusal(404, `cancelling job ${id}: there is none`);
    if (job.completedAt !== undefined) throw new CoderdRefusal(400, 'Job has already completed!');
    if (job.canceledAt !== undefined)
      throw new CoderdRefusal(400, 'Job has already been marked as canceled!');
    this.#jobs.cancel(job, this.timeline.now());
    if (this.version.does('skipsCancelledJobs')) this.#queue.remove(job);
  }

  addTemplate({ organization, tags = {}, ...settings }: NewTemplate): TemplateRecord {
    const organizationId = this.organizationId(organization);
    return this.#templates.add({ ...settings, organizationId, tags, now: this.timeline.now() });
  }

  /** Makes another version with these tags the active one. */
  pushVersion(template: TemplateRecord, tags: Tags): void {
    this.#templates.pushVersion(template.id, tags, this.timeline.now());
  }

  /** Marks it as deprecated: its workspaces live on. */
  deprecate(template: TemplateRecord, message = 'Use another one.'): void {
    this.#templates.deprecate(template.id, message);
  }

  /** As an admin writes other settings: what they make due is due at the next poll. */
  changeTemplate(template: TemplateRecord, settings: Partial<TemplateSettings>): void {
    this.#templates.change(template.id, settings, this.timeline.now());
    this.#workspaces.templateChanged(template.id);
  }

  addUser(user: NewUser = {}): UserRecord {
    return this.#users.add(user, this.timeline.now());
  }

  /** As an admin does it, or coderd's own clock that finds a user dormant. */
  setUserStatus(user: UserRecord, status: UserStatus): void {
    this.#users.setStatus(user.id, status, this.timeline.now());
    this.#workspaces.ownerChanged(user.id);
  }

  /** Oldest first; the records are live. */
  users(): readonly UserRecord[] {
    return this.#users.all();
  }

  user(id: string): UserRecord | undefined {
    return this.#users.get(id);
  }

  addWorkspace(workspace: NewWorkspace): WorkspaceRecord {
    return this.#workspaces.add(workspace);
  }

  /** Without a build, as if it had never been. */
  removeWorkspace(workspace: WorkspaceRecord): void {
    this.#workspaces.remove(workspace.id);
  }

  /** A dormant workspace that its user has taken up again. */
  markActive(workspace: WorkspaceRecord): void {
    this.#workspaces.markActive(workspace.id);
  }

  /** Activity of its user. */
  use(workspace: WorkspaceRecord): void {
    this.#workspaces.use(workspace.id);
  }

  /** A build that a person asks for: inserted at once. Throws CoderdRefusal: 404 deleted, 409 the build before has not ended. */
  build(
    workspace: WorkspaceRecord,
    transition: Transition,
    options: Omit<NewBuild, 'transition' | 'reason'> = {},
  ): void {
    this.#workspaces.build(workspace.id, { ...options, transition, reason: 'initiator' });
  }

  /** Shows a build of another workspace as the latest one of this, unless this has a later one. */
  adoptBuild(workspace: WorkspaceRecord, build: BuildRecord): void {
    this.#workspaces.adopt(workspace.id, build);
  }

  /** Starts daemons inside coderd: untagged, in the default organization (contract §7). */
  addBuiltInDaemons(count: number): void {
    const key = builtInKey(this.organizations.default.id);
    for (let n = 0; n < count; n++) {
      const name = `coderd-builtin-${this.#builtIns++}`;
      runBuiltInDaemon(this.#sessions.open(key, { name, version: this.version.text }), this.timeline);
    }
  }

  connect(daemon: {
    readonly key: string;
    readonly name: string;
    readonly version: string;
  }): DaemonConnection {
    return this.#sessions.open(
      admit(daemon, { keys: this.#keys, licensed: this.#licence !== 'not_entitled', version: this.version }),
      daemon,
    );
  }

  /** All jobs ever, oldest first; the records are live. */
  jobs(): readonly JobRecord[] {
    return this.#jobs.all();
  }

  /** The daemon rows that were seen within the hour, in any order. */
  recentDaemons(): readonly DaemonRecord[] {
    return this.#daemons.recent(this.timeline.now());
  }

  /** The jobs that are not completed, oldest first; the records are live. */
  openJobs(): ReadonlySet<JobRecord> {
    return this.#jobs.open();
  }

  job(id: JobId): JobRecord | undefined {
    return this.#jobs.get(id);
  }

  /** What the daemon has, and what it had before. */
  jobsOf(daemon: DaemonRecord): {
    readonly current: readonly JobRecord[];
    readonly previous: JobRecord | undefined;
  } {
    return { current: this.#jobs.currentOf(daemon.id), previous: this.#jobs.previousOf(daemon.id) };
  }

  /** Those of `addWorkspace` that are not deleted, oldest first; the records are live. */
  workspaces(): readonly WorkspaceRecord[] {
    return this.#workspaces.all();
  }

  /** Of one workspace, oldest first: one that is deleted, or that only a submitted job knows, too. Empty: no such workspace. */
  buildsOf(workspaceId: string): readonly BuildRecord[] {
    return (
      this.#workspaces.builds(workspaceId) ??
      this.#jobs.all().flatMap((job) => submittedBuild(job, workspaceId))
    );
  }

  /** Oldest first; the records are live. */
  templates(): readonly TemplateRecord[] {
    return this.#templates.all();
  }

  /** All daemon rows, oldest first, offline ones too. */
  daemons(): readonly DaemonRecord[] {
    return this.#daemons.all().toArray();
  }

  /** The provisionerjobs answer, without its HTTP face. */
  listJobs(query: JobQuery): readonly JobAnswer[] {
    return listJobs(query, { jobs: this.#jobs, daemons: this.#daemons, version: this.version });
  }

  /** A job as it stands in the answer of its build. */
  answerOf(job: JobRecord): JobAnswer {
    return jobAnswer(job, { daemons: this.#daemons, version: this.version });
  }

  /** The provisionerdaemons answer, without its HTTP face. */
  listDaemons(query: DaemonQuery): readonly DaemonAnswer[] {
    const { timeline, version } = this;
    return listDaemons(query, { jobs: this.#jobs, daemons: this.#daemons, version, now: timeline.now() });
  }

  #startLoops(autobuildPollMs: number): void {
    const { timeline } = this;
    timeline.every(autobuildPollMs, () =>
      runLifecycle({
        workspaces: this.#workspaces,
        daemons: this.#daemons,
        now: timeline.now(),
        gated: this.version.does('gatesAutostart'),
      }),
    );
    timeline.every(REAP_EVERY_MS, () =>
      reapJobs({
        jobs: this.#jobs,
        queue: this.#queue,
        random: this.#random,
        now: timeline.now(),
        pendingToo: this.version.does('reapsPendingJobs'),
      }),
    );
    timeline.every(PURGE_EVERY_MS, () => purgeDaemons(this.#daemons, timeline.now()));
  }

  #insert(given: Omit<NewJob, 'id' | 'createdAt' | 'tagKey'>, onInserted?: (job: Job) => void): JobId {
    const job = this.#jobs.insert({
      ...given,
      id: this.#random.uuid() as JobId,
      createdAt: this.timeline.now(),
      tagKey: tagKey(given.tags),
    });
    onInserted?.(job);
    this.#acquirer.offer(job);
    return job.id;
  }

  #nameWorkspace(): JobWorkspace {
    const name = `workspace-${++this.#workspaceCount}`;
    return { id: this.#random.uuid(), name, buildId: this.#random.uuid() };
  }
}

/** The build that a job of `submitJob` is, if it is one of this workspace. */
function submittedBuild(job: Job, workspaceId: string): readonly BuildRecord[] {
  const { workspace, transition, version } = job;
  if (workspace?.id !== workspaceId || transition === undefined) return [];
  return [newBuild({ id: workspace.buildId, number: 1, transition, reason: 'initiator', version, job })];
}
