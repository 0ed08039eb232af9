/**
 * A model of coderd on a virtual clock: the tables, the background loops, and the daemons. It is the only coderd
 * that most tests have, so it is strict. The facts are in docs/internals/coder.md.
 */
import {
  type DaemonId,
  type EpochMs,
  type JobId,
  type OrganizationId,
  plusMs,
} from '../../../lambda/decision/model/brands.ts';
import { normalizeTags, type Tags, tagKey } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { Credential, DaemonConnection, DaemonServer } from '../base/daemon-connection.ts';
import { JobRunner } from '../base/job-runner.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';
import { Acquirer, PendingQueue } from './acquirer.ts';
import { admit } from './admission.ts';
import { PURGE_EVERY_MS, purgeDaemons, REAP_EVERY_MS, reapJobs, runLifecycle } from './loops.ts';
import { type NewPreset, Prebuilds, RECONCILE_EVERY_MS } from './prebuilds.ts';
import { type DaemonQuery, listDaemons } from './queries/daemon-list.ts';
import { type JobAnswer, type JobQuery, JobQueue, jobAnswer, listJobs } from './queries/job-list.ts';
import { Database } from './rules/database.ts';
import { CoderdRefusal } from './rules/refusal.ts';
import { CoderVersion, DEFAULT_RELEASE } from './rules/versions.ts';
import { Sessions } from './session.ts';
import { type DaemonRecord, DaemonTable } from './tables/daemons.ts';
import {
  type Job,
  type JobRecord,
  JobTable,
  type JobType,
  type JobWorkspace,
  type NewJob,
  PREBUILDS_USER,
} from './tables/jobs.ts';
import { builtInKey, NIL_UUID, ProvisionerKeys } from './tables/keys.ts';
import { Organizations } from './tables/organizations.ts';
import {
  type NewTemplate,
  type NewVersion,
  type TemplateRecord,
  type TemplateSettings,
  TemplateTable,
  type TemplateVersion,
  type Transition,
} from './tables/templates.ts';
import { type Authenticated, type KeyAction, Tokens } from './tables/tokens.ts';
import { type NewUser, type UserRecord, type UserStatus, Users } from './tables/users.ts';
import type { BuildRecord, WorkspaceRecord } from './tables/workspace-records.ts';
import { type NewBuild, newBuild, WorkspaceTable } from './tables/workspaces.ts';

export type CoderdOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  /** @default `DEFAULT_RELEASE` */
  readonly version?: string;
  /** The poll interval of the lifecycle executor: CODER_AUTOBUILD_POLL_INTERVAL. @default a minute */
  readonly autobuildPollMs?: number;
  /** Names of organizations. The default one is that named `default`, or else the first. */
  readonly organizations: readonly string[];
  /** Each daemon connects to one of them, and each has a reaper. @default 1 */
  readonly replicas?: number;
  /** The pre-shared key of daemons: CODER_PROVISIONER_DAEMON_PSK. @default none */
  readonly psk?: string | undefined;
};

/** The open-source build has no routes for licences and keys (docs/internals/coder.md §3). */
type Licence = 'entitled' | 'grace_period' | 'not_entitled' | 'open-source';

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
  /** @default one for all jobs of these tags */
  readonly template?: TemplateRecord;
};

/** A version that a daemon must import. */
type ImportedVersion = NewVersion & {
  readonly organization: string;
  /** The template of the version. @default none yet */
  readonly template?: TemplateRecord;
  readonly durationMs: number;
  readonly willFail?: boolean;
};

export class CoderdModel implements DaemonServer {
  readonly timeline: Timeline;
  readonly version: CoderVersion;
  readonly deploymentId: string;
  /** The user who owns and builds everything except prebuilds and the workspaces of users from `addUser`. */
  readonly userId: string;
  readonly organizations: Organizations;
  readonly tokens: Tokens;
  /** Without the reserved ones. Add and delete keys with `addKey` and `deleteKey`. */
  readonly keys: ProvisionerKeys;
  readonly workspaces: WorkspaceTable;
  licence: Licence = 'entitled';
  readonly database = new Database();
  /** Ids of jobs, daemons, workspaces and templates whose rows in lists lack what their readers need. */
  readonly unreadable = new Set<string>();
  /** The last parts of paths whose requests end with 500, such as `provisionerdaemons`. */
  readonly failing = new Set<string>();
  /** How old a heartbeat of this daemon is when it is written, in milliseconds; undefined: none is written. */
  heartbeatAgeMs: (daemon: DaemonId) => number | undefined = () => 0;
  /** How far the clock of the replica that answers is ahead, in milliseconds. */
  dateAheadMs: () => number = () => 0;
  /** What the programs of an uploaded template print while Terraform imports it. @default nothing */
  importPrints: (file: string) => readonly string[] = () => [];
  /** By version id: the lines of its import. */
  readonly importLogs = new Map<string, readonly string[]>();
  /** Changes as with a restart of coderd with another one. */
  psk: string | undefined;
  readonly #random: Random;
  readonly #jobs: JobTable;
  readonly #daemons: DaemonTable;
  readonly #queue: PendingQueue;
  readonly #jobQueue: JobQueue;
  /** One for each replica of coderd. */
  readonly #acquirers: readonly Acquirer[];
  readonly #templates: TemplateTable;
  readonly #users: Users;
  readonly #sessions: Sessions;
  readonly #imports = new Map<string, Job>();
  /** Undefined until there is a preset. */
  #prebuilds: Prebuilds | undefined;
  readonly #files = new Map<string, string>();
  #builtIns = 0;
  #workspaceCount = 0;

  constructor(options: CoderdOptions) {
    const { timeline, random } = options;
    const release = options.version ?? DEFAULT_RELEASE;
    this.timeline = timeline;
    this.#random = random;
    // buildinfo and daemons show the commit too: v2.34.0+3006da5 (docs/internals/coder.md §2).
    this.version = new CoderVersion(release.includes('+') ? release : `${release}+${random.hex(7)}`);
    this.psk = options.psk;
    this.deploymentId = random.uuid();
    this.#users = new Users(random);
    const owner = this.#users.add({ username: 'testuser' }, timeline.now());
    this.userId = owner.id;
    this.organizations = new Organizations({ names: options.organizations, random, now: timeline.now() });
    this.tokens = new Tokens(random, { fixesEnds: this.version.does('fixesTokenEnds') });
    this.keys = new ProvisionerKeys(random);
    this.#daemons = new DaemonTable(random, (daemon) => this.heartbeatAgeMs(daemon));
    this.#templates = new TemplateTable(random);
    this.workspaces = new WorkspaceTable({
      random,
      now: () => timeline.now(),
      name: () => this.#nameWorkspace(),
      owner,
      rules: { cleansUpFailedStops: this.version.does('cleansUpFailedStops') },
      insert: (job, onInserted) => this.#insert(job, onInserted),
    });
    this.#jobs = new JobTable((job) => this.workspaces.jobCompleted(job));
    this.#jobQueue = new JobQueue(this.#jobs, this.#daemons);
    this.#queue = new PendingQueue({ prebuildsLast: this.version.does('runsPrebuildsLast') });
    this.#acquirers = Array.from(
      { length: options.replicas ?? 1 },
      () => new Acquirer(this.#queue, { random, timeline }),
    );
    this.#sessions = new Sessions({
      timeline,
      jobs: this.#jobs,
      daemons: this.#daemons,
      acquirers: this.#acquirers,
      random,
    });
    this.#startLoops(options.autobuildPollMs ?? MINUTE_MS);
  }

  organizationId(name: string): OrganizationId {
    return this.organizations.named(name).id;
  }

  /** Returns the secret. @throws CoderdRefusal 400 invalid name, 404 unknown organization, 409 duplicate */
  addKey(key: { readonly organization: string; readonly name: string; readonly tags: Tags }): string {
    return this.keys.add({
      name: key.name,
      tags: key.tags,
      organizationId: this.organizationId(key.organization),
      createdAt: this.timeline.now(),
    });
  }

  /** Live sessions go on (up to 2.36) or are closed when free (docs/internals/coder.md §3). */
  deleteKey(organization: string, name: string): void {
    const { id } = this.keys.delete(this.organizationId(organization), name);
    this.#daemons.deleteWhere(({ keyId }) => keyId === id);
    if (!this.version.does('closesSessionsOfDeletedKeys')) return;
    this.#sessions.closeOfKey(id);
  }

  /**
   * Returns a session token of a new user. By organization name, `canRead` is for jobs and daemons,
   * `canReadWorkspaces` for workspaces and templates, `canReadMembers` for other members.
   * @default as `canRead`, not an owner, valid for a year
   */
  addToken(token: {
    readonly canRead: 'all' | readonly string[];
    readonly canReadWorkspaces?: 'all' | readonly string[];
    readonly canReadMembers?: 'all' | readonly string[];
    /** @default every member may read provisioner keys, an owner may do all */
    readonly keyRights?: Partial<Readonly<Record<KeyAction, 'all' | readonly string[]>>>;
    readonly isOwner?: boolean;
    readonly lifetimeMs?: number;
    /** @default autoscaler */
    readonly name?: string;
    /** @default a new user */
    readonly user?: UserRecord;
  }): string {
    const { canRead, canReadWorkspaces = canRead, canReadMembers = canRead } = token;
    const { isOwner = false, lifetimeMs = YEAR_MS, name = 'autoscaler', keyRights = {} } = token;
    const idsOf = (names: 'all' | readonly string[]) =>
      names === 'all' ? names : new Set(names.map((name) => this.organizationId(name)));
    return this.tokens.add({
      isOwner,
      canRead: idsOf(canRead),
      canReadWorkspaces: idsOf(canReadWorkspaces),
      canReadMembers: idsOf(canReadMembers),
      keyRights: {
        read: idsOf(keyRights.read ?? 'all'),
        create: idsOf(keyRights.create ?? (isOwner ? 'all' : [])),
        delete: idsOf(keyRights.delete ?? (isOwner ? 'all' : [])),
      },
      lifetimeMs,
      name,
      now: this.timeline.now(),
      ...(token.user === undefined ? {} : { user: token.user }),
    });
  }

  /** The user of this token. Using a token makes a dormant user active (coderd/httpmw/apikey.go). */
  authenticate(token: string | undefined): Authenticated {
    const caller = this.tokens.authenticate(token, this.timeline.now());
    const user = 'user' in caller ? this.user(caller.user.userId) : undefined;
    if (user?.status === 'dormant') this.setUserStatus(user, 'active');
    if (user?.status !== 'suspended') return caller;
    const text = 'User is not active (status = "suspended"). Contact an admin to reactivate your account.';
    return { refusal: { message: text } };
  }

  get isLicensed(): boolean {
    return this.licence === 'entitled' || this.licence === 'grace_period';
  }

  /** If it builds a workspace, only the job has it; use `build` for workspaces that persist. */
  submitJob(job: SubmittedJob): JobId {
    const type = job.type ?? 'workspace_build';
    const organizationId = this.organizationId(job.organization);
    const tags = normalizeTags(job.tags);
    const template = job.template ?? this.#templates.forJobs(organizationId, tags, this.timeline.now());
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
   * A pending job is canceled at once. A running one is canceling until its daemon has heard of it, and then failed.
   * @throws CoderdRefusal 404 unknown, 400 completed or cancelled before
   */
  cancelJob(id: JobId): void {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new CoderdRefusal(404, `cancelling job ${id}: there is none`);
    if (job.completedAt !== undefined) throw new CoderdRefusal(400, 'Job has already completed!');
    if (job.canceledAt !== undefined)
      throw new CoderdRefusal(400, 'Job has already been marked as canceled!');
    this.#jobs.cancel(job, this.timeline.now());
    if (this.version.does('skipsCancelledJobs')) this.#queue.remove(job);
    this.#sessions.tellCancelled(job);
  }

  addTemplate({ organization, tags = {}, ...settings }: NewTemplate): TemplateRecord {
    const organizationId = this.organizationId(organization);
    const added = this.#templates.add({ ...settings, organizationId, tags, now: this.timeline.now() });
    const imported = this.#imports.get(added.activeVersion.id);
    if (imported !== undefined) imported.template = added;
    return added;
  }

  /** Inserts the job that imports a version. Nothing is built with it before `addTemplate` or `activate`. */
  importVersion(given: ImportedVersion): TemplateVersion {
    const { organization, template, durationMs, willFail = false, ...version } = given;
    const now = this.timeline.now();
    const organizationId = this.organizationId(organization);
    const added = this.#templates.newVersion(version, now);
    const job: Omit<NewJob, 'id' | 'createdAt' | 'tagKey'> = {
      organizationId,
      tags: added.tags,
      durationMs,
      initiatorId: this.userId,
      type: 'template_version_import',
      transition: undefined,
      template: template ?? this.#templates.none(organizationId, now),
      version: added,
      workspace: undefined,
      willFail,
    };
    this.#insert(job, (inserted) => this.#imports.set(added.id, inserted));
    return added;
  }

  /** Returns its id. */
  addFile(content: string): string {
    const id = this.#random.uuid();
    this.#files.set(id, content);
    return id;
  }

  file(id: string): string | undefined {
    return this.#files.get(id);
  }

  /** The job of `importVersion`; undefined for a version that needed no import. */
  importOf(version: TemplateVersion): JobRecord | undefined {
    return this.#imports.get(version.id);
  }

  activate(template: TemplateRecord, version: TemplateVersion): void {
    this.#templates.activate(template.id, version, this.timeline.now());
  }

  /** Activates another version with these tags, as if its import had just succeeded. */
  pushVersion(template: TemplateRecord, tags: Tags): void {
    this.activate(template, this.#templates.newVersion({ tags }, this.timeline.now()));
  }

  findVersion(
    id: string,
  ): { readonly template: TemplateRecord; readonly version: TemplateVersion } | undefined {
    const imported = this.#imports.get(id);
    if (imported !== undefined) return imported;
    for (const template of this.#templates.all()) {
      const version = template.versions.find((one) => one.id === id);
      if (version !== undefined) return { template, version };
    }
    return undefined;
  }

  /** Changes settings as an admin does. What becomes due is due at the next poll. */
  changeTemplate(template: TemplateRecord, settings: Partial<TemplateSettings>): void {
    this.#templates.change(template.id, settings, this.timeline.now());
    this.workspaces.templateChanged(template.id);
  }

  addUser(user: NewUser = {}): UserRecord {
    return this.#users.add(user, this.timeline.now());
  }

  /** Sets the status as an admin does, or as coderd does for a dormant user. */
  setUserStatus(user: UserRecord, status: UserStatus): void {
    this.#users.setStatus(user.id, status, this.timeline.now());
    this.workspaces.ownerChanged(user.id);
  }

  users(): readonly UserRecord[] {
    return this.#users.all();
  }

  user(id: string): UserRecord | undefined {
    return this.#users.get(id);
  }

  /** As a person. @throws CoderdRefusal 404 deleted workspace, 409 the previous build has not ended */
  build(
    workspace: WorkspaceRecord,
    transition: Transition,
    options: Omit<NewBuild, 'transition' | 'reason'> = {},
  ): void {
    this.workspaces.build(workspace.id, { ...options, transition, reason: 'initiator' });
  }

  addPreset(preset: NewPreset): void {
    this.#prebuilds ??= this.#startPrebuilds();
    this.#prebuilds.add(preset, this.#random.uuid());
  }

  /** Starts daemons inside coderd: untagged, in the default organization (docs/internals/coder.md §7). */
  addBuiltInDaemons(count: number): void {
    for (let n = 0; n < count; n++) this.startBuiltInDaemon(`coderd-builtin-${this.#builtIns++}`, {});
  }

  startBuiltInDaemon(name: string, tags: Tags): JobRunner {
    const key = builtInKey(this.organizations.default.id, tags);
    const admitted = { key, owner: NIL_UUID };
    const connection = this.#sessions.open(admitted, { name, version: this.version.text });
    return new JobRunner(connection, this.timeline);
  }

  /** Ends the connections of these daemons for good, although their processes go on. */
  loseDaemons(ids: readonly DaemonId[]): void {
    this.#sessions.lose(new Set(ids));
  }

  setLastSeen(id: DaemonId, at: EpochMs): void {
    this.#daemons.setLastSeen(id, at);
  }

  /** The `Date` header of an answer now, by the clock of the replica that answers. */
  get date(): EpochMs {
    return plusMs(this.timeline.now(), this.dateAheadMs());
  }

  tick(at: EpochMs): void {
    runLifecycle({
      workspaces: this.workspaces,
      daemons: this.#daemons,
      now: at,
      gated: this.version.does('gatesAutostart'),
    });
  }

  connect(daemon: Credential & { readonly name: string; readonly version: string }): DaemonConnection {
    const server = {
      keys: this.keys,
      organizations: this.organizations,
      psk: this.psk,
      licensed: this.isLicensed,
      version: this.version,
      authenticate: (token: string) => this.authenticate(token),
    };
    return this.#sessions.open(admit(daemon, server), daemon);
  }

  /** All jobs, oldest first. The records change with the jobs. */
  jobs(): readonly JobRecord[] {
    return this.#jobs.all();
  }

  daemon(id: DaemonId): DaemonRecord | undefined {
    return this.#daemons.get(id);
  }

  /** The jobs that are not completed, oldest first. The records change with the jobs. */
  openJobs(): ReadonlySet<JobRecord> {
    return this.#jobs.open();
  }

  job(id: JobId): JobRecord | undefined {
    return this.#jobs.get(id);
  }

  jobsOf(daemon: DaemonRecord): {
    readonly current: readonly JobRecord[];
    readonly previous: JobRecord | undefined;
  } {
    return { current: this.#jobs.currentOf(daemon.id), previous: this.#jobs.previousOf(daemon.id) };
  }

  /** Oldest first, also of a deleted workspace or of one that only a submitted job has. Empty: unknown. */
  buildsOf(workspaceId: string): readonly BuildRecord[] {
    return (
      this.workspaces.builds(workspaceId) ??
      this.#jobs.all().flatMap((job) => submittedBuild(job, workspaceId))
    );
  }

  templates(): readonly TemplateRecord[] {
    return this.#templates.all();
  }

  /** All daemon rows, oldest first, offline ones too. */
  daemons(): readonly DaemonRecord[] {
    return this.#daemons.all().toArray();
  }

  /** The answer of provisionerjobs, without HTTP. */
  listJobs(query: JobQuery) {
    const jobs = this.#jobs;
    return listJobs(query, { jobs, daemons: this.#daemons, queue: this.#jobQueue, version: this.version });
  }

  answerOf(job: JobRecord): JobAnswer {
    return jobAnswer(job, this.version);
  }

  /** The answer of provisionerdaemons, without HTTP. */
  listDaemons(query: DaemonQuery) {
    const { timeline, version } = this;
    return listDaemons(query, { jobs: this.#jobs, daemons: this.#daemons, version, now: timeline.now() });
  }

  #startLoops(autobuildPollMs: number): void {
    const { timeline } = this;
    timeline.every(autobuildPollMs, () => this.tick(timeline.now()));
    timeline.every(REAP_EVERY_MS, () =>
      reapJobs({
        replicas: this.#acquirers.length,
        jobs: this.#jobs,
        queue: this.#queue,
        random: this.#random,
        now: timeline.now(),
        pendingToo: this.version.does('reapsPendingJobs'),
      }),
    );
    timeline.every(PURGE_EVERY_MS, () => purgeDaemons(this.#daemons, timeline.now()));
  }

  #startPrebuilds(): Prebuilds {
    const prebuilds = new Prebuilds(this.workspaces, this.timeline.now());
    this.timeline.every(RECONCILE_EVERY_MS, () => prebuilds.reconcile());
    return prebuilds;
  }

  #insert(given: Omit<NewJob, 'id' | 'createdAt' | 'tagKey'>, onInserted?: (job: Job) => void): JobId {
    const job = this.#jobs.insert({
      ...given,
      id: this.#random.uuid() as JobId,
      createdAt: this.timeline.now(),
      tagKey: tagKey(given.tags),
    });
    onInserted?.(job);
    this.#queue.add(job);
    for (const acquirer of this.#acquirers) acquirer.posted(job);
    return job.id;
  }

  #nameWorkspace(): JobWorkspace {
    const name = `workspace-${++this.#workspaceCount}`;
    return { id: this.#random.uuid(), name, buildId: this.#random.uuid() };
  }
}

function submittedBuild(job: Job, workspaceId: string): readonly BuildRecord[] {
  const { workspace, transition, version } = job;
  if (workspace?.id !== workspaceId || transition === undefined) return [];
  return [newBuild({ id: workspace.buildId, number: 1, transition, reason: 'initiator', version, job })];
}
