/**
 * A model of coderd on a virtual clock: the only coderd that our tests have, so it is not kind. It holds the tables,
 * runs what coderd runs by itself, and lets daemons in; `http.ts` is its face, `job-list.ts` and `daemon-list.ts` are
 * what it shows. The facts are those of Coder's source (contract), the releases' differences stand in `versions.ts`.
 */

import type { EpochMs, JobId, OrganizationId } from '../../lambda/core/brands.ts';
import { normalizeTags, type TagSet, type Tags, tagKey } from '../../lambda/core/tags.ts';
import type { DaemonConnection, DaemonServer } from '../daemon-connection.ts';
import type { Random } from '../random.ts';
import type { Timeline } from '../timeline.ts';
import { Acquirer } from './acquirer.ts';
import { admit } from './admission.ts';
import { runBuiltInDaemon } from './built-in-daemons.ts';
import { type DaemonAnswer, type DaemonQuery, listDaemons } from './daemon-list.ts';
import { type DaemonRecord, DaemonTable, isOffline } from './daemons.ts';
import { type JobAnswer, type JobQuery, listJobs } from './job-list.ts';
import { type JobRecord, JobTable, type JobType, PREBUILDS_USER, type Transition } from './jobs.ts';
import { builtInKey, daemonTags, type ProvisionerKey, ProvisionerKeys } from './keys.ts';
import { LIFECYCLE_EVERY_MS, LifecycleExecutor, type ScheduledBuild } from './lifecycle-executor.ts';
import { Organizations } from './organizations.ts';
import { PendingQueue } from './pending-queue.ts';
import { PURGE_EVERY_MS, purgeDaemons, REAP_EVERY_MS, reapJobs } from './reapers.ts';
import { CoderdRefusal } from './refusal.ts';
import { Session } from './session.ts';
import { tagsetContains } from './tagset-contains.ts';
import { Templates } from './templates.ts';
import { Tokens } from './tokens.ts';
import { CoderVersion } from './versions.ts';

export type CoderdOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  /** @default 'v2.30.0' */
  readonly version?: string;
  /** Names. The default organization is that called `default`, or else the first. */
  readonly organizations: readonly string[];
  /** Whether external daemons are licensed. @default true */
  readonly licensed?: boolean;
};

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
  readonly organizations: Organizations;
  readonly tokens: Tokens;
  readonly #random: Random;
  readonly #licensed: boolean;
  readonly #keys: ProvisionerKeys;
  readonly #jobs = new JobTable();
  readonly #daemons: DaemonTable;
  readonly #queue: PendingQueue;
  readonly #acquirer: Acquirer;
  readonly #lifecycle: LifecycleExecutor;
  readonly #templates: Templates;
  readonly #sessions = new Set<Session>();
  readonly #userId: string;
  #builtIns = 0;

  constructor(options: CoderdOptions) {
    const { timeline, random } = options;
    const release = options.version ?? 'v2.30.0';
    this.timeline = timeline;
    this.#random = random;
    // buildinfo and daemons show the commit too: v2.34.0+3006da5 (contract §2)
    this.version = new CoderVersion(release.includes('+') ? release : `${release}+${random.hex(7)}`);
    this.#licensed = options.licensed ?? true;
    this.deploymentId = random.uuid();
    this.#userId = random.uuid();
    this.organizations = new Organizations({ names: options.organizations, random, now: timeline.now() });
    this.tokens = new Tokens(random);
    this.#keys = new ProvisionerKeys(random);
    this.#daemons = new DaemonTable(random);
    this.#templates = new Templates(random);
    this.#queue = new PendingQueue({ prebuildsLast: this.version.does('knowsInitiators') });
    this.#acquirer = new Acquirer(this.#queue, random);
    this.#lifecycle = new LifecycleExecutor({
      start: timeline.now(),
      isGateOpen: (group) => this.#isGateOpen(group),
      insert: (build) => this.#insert({ ...build, initiatorId: this.#userId, type: 'workspace_build' }),
    });
    this.#startLoops();
  }

  organizationId(name: string): OrganizationId {
    return this.organizations.named(name).id;
  }

  /** Returns the key's secret, 43 characters. Throws CoderdRefusal: 400 bad name, 404 organization, 409 duplicate. */
  addKey(key: { readonly organization: string; readonly name: string; readonly tags: Tags }): string {
    return this.#keys.add({ ...key, organizationId: this.organizationId(key.organization) });
  }

  /** Its daemon rows vanish at once; its live sessions work on (below 2.35) or are closed when free (contract §3). */
  deleteKey(organization: string, name: string): void {
    const { id } = this.#keys.delete(this.organizationId(organization), name);
    this.#daemons.deleteWhere(({ keyId }) => keyId === id);
    if (!this.version.does('closesSessionsOfDeletedKeys')) return;
    for (const session of [...this.#sessions]) if (session.keyId === id) session.closeWhenFree();
  }

  /** Returns a session token of a new user; `canRead`: where it may read jobs and daemons, by organization name. */
  addToken(token: { readonly canRead: 'all' | readonly string[] }): string {
    const { canRead } = token;
    return this.tokens.add(
      canRead === 'all' ? 'all' : new Set(canRead.map((organization) => this.organizationId(organization))),
    );
  }

  revokeToken(token: string): void {
    this.tokens.revoke(token);
  }

  submitJob(job: SubmittedJob): JobId {
    const type = job.type ?? 'workspace_build';
    return this.#insert({
      organizationId: this.organizationId(job.organization),
      tags: normalizeTags(job.tags),
      durationMs: job.durationMs,
      initiatorId: job.initiator === 'prebuilds' ? PREBUILDS_USER : this.#userId,
      type,
      transition: type === 'workspace_build' ? (job.transition ?? 'start') : undefined,
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

  /** Plans what the lifecycle executor is to insert by itself from `at` on, once a fitting daemon is there (contract §10). */
  scheduleBuild(build: {
    readonly organization: string;
    readonly tags: Tags;
    readonly at: EpochMs;
    readonly durationMs: number;
    readonly transition: Transition;
  }): void {
    const { at, durationMs, transition } = build;
    const organizationId = this.organizationId(build.organization);
    this.#lifecycle.schedule({ organizationId, tags: normalizeTags(build.tags), at, durationMs, transition });
  }

  /** Starts daemons inside coderd: untagged, in the default organization (contract §7). */
  addBuiltInDaemons(count: number): void {
    const key = builtInKey(this.organizations.default.id);
    for (let n = 0; n < count; n++) {
      const name = `coderd-builtin-${this.#builtIns++}`;
      runBuiltInDaemon(this.#open(key, { name, version: this.version.text }), this.timeline);
    }
  }

  connect(daemon: {
    readonly key: string;
    readonly name: string;
    readonly version: string;
  }): DaemonConnection {
    return this.#open(
      admit(daemon, { keys: this.#keys, licensed: this.#licensed, version: this.version }),
      daemon,
    );
  }

  /** All jobs ever, oldest first; the records are live. */
  jobs(): readonly JobRecord[] {
    return this.#jobs.all();
  }

  /** All daemon rows, oldest first, offline ones too. */
  daemons(): readonly DaemonRecord[] {
    return this.#daemons.all().toArray();
  }

  /** The provisionerjobs answer, without its HTTP face. */
  listJobs(query: JobQuery): readonly JobAnswer[] {
    return listJobs(query, { jobs: this.#jobs, daemons: this.#daemons, version: this.version });
  }

  /** The provisionerdaemons answer, without its HTTP face. */
  listDaemons(query: DaemonQuery): readonly DaemonAnswer[] {
    const { timeline, version } = this;
    return listDaemons(query, { jobs: this.#jobs, daemons: this.#daemons, version, now: timeline.now() });
  }

  #startLoops(): void {
    const { timeline } = this;
    timeline.every(LIFECYCLE_EVERY_MS, () => this.#lifecycle.tick());
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

  #isGateOpen({
    organizationId,
    tags,
  }: {
    readonly organizationId: OrganizationId;
    readonly tags: TagSet;
  }): boolean {
    if (!this.version.does('gatesAutostart')) return true;
    const now = this.timeline.now();
    return this.#daemons
      .all()
      .some(
        (daemon) =>
          daemon.organizationId === organizationId &&
          !isOffline(daemon, now) &&
          tagsetContains(daemon.tags, tags),
      );
  }

  #insert(
    given: Omit<ScheduledBuild, 'at' | 'transition'> & {
      readonly initiatorId: string;
      readonly type: JobType;
      readonly transition: Transition | undefined;
      readonly willFail?: boolean;
    },
  ): JobId {
    const { organizationId, initiatorId, tags, type, transition, durationMs } = given;
    const key = tagKey(tags);
    const job = this.#jobs.insert({
      id: this.#random.uuid() as JobId,
      createdAt: this.timeline.now(),
      organizationId,
      initiatorId,
      tags,
      tagKey: key,
      type,
      transition,
      template: this.#templates.of(organizationId, key),
      workspace: type === 'workspace_build' ? this.#templates.newWorkspace() : undefined,
      durationMs,
      willFail: given.willFail ?? false,
    });
    this.#acquirer.offer(job);
    return job.id;
  }

  #open(key: ProvisionerKey, daemon: { readonly name: string; readonly version: string }): Session {
    const { organizationId, id: keyId, name: keyName } = key;
    const session = new Session(
      {
        organizationId,
        name: daemon.name,
        keyId,
        keyName,
        tags: daemonTags(key),
        version: daemon.version,
        apiVersion: new CoderVersion(daemon.version).provisionerApi,
      },
      {
        timeline: this.timeline,
        jobs: this.#jobs,
        daemons: this.#daemons,
        acquirer: this.#acquirer,
        onClosed: (closed) => this.#sessions.delete(closed),
      },
    );
    this.#sessions.add(session);
    return session;
  }
}
