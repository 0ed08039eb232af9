/** Workspaces and their builds, with the changes of people and coderd (docs/internals/coder.md §10). */
import { type EpochMs, type JobId, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { normalizeTags, type TagSet, type Tags, tagKey } from '../../../../lambda/decision/model/tags.ts';
import type { Random } from '../../base/random.ts';
import { CoderdRefusal } from '../rules/refusal.ts';
import { type Job, type JobWorkspace, type NewJob, pastJob } from './jobs.ts';
import type { TemplateRecord, Transition } from './templates.ts';
import { type LifecycleRules, nextAllowedAutostart, transitionsOf } from './transitions.ts';
import type { UserRecord } from './users.ts';
import type { BuildReason, BuildRecord, NewWorkspace, WorkspaceRecord } from './workspace-records.ts';

type Workspace = {
  -readonly [Key in keyof WorkspaceRecord]: Key extends 'latestBuild' ? Build : WorkspaceRecord[Key];
} & {
  /** No transition is due before this time. */
  dueFrom: number;
};

type Build = { -readonly [Key in keyof BuildRecord]: BuildRecord[Key] };

type WorkspaceTableParts = {
  readonly random: Random;
  readonly now: () => EpochMs;
  readonly name: () => JobWorkspace;
  readonly rules: LifecycleRules;
  readonly owner: UserRecord;
  /** Inserts a job; `onInserted` is called before any daemon gets it. */
  readonly insert: (job: Omit<NewJob, 'id' | 'createdAt' | 'tagKey'>, onInserted: (job: Job) => void) => void;
};

export type NewBuild = {
  readonly transition: Transition;
  readonly reason: BuildReason;
  readonly willFail?: boolean;
  /** How long it takes, in milliseconds. @default as the workspace's builds */
  readonly durationMs?: number;
  /** Whether the previous build may still run, which coderd never allows. @default false */
  readonly mayOverlap?: boolean;
};

export class WorkspaceTable {
  readonly #byId = new Map<string, Workspace>();
  /** Builds by workspace, oldest first. Those of deleted workspaces stay, as in coderd. */
  readonly #builds = new Map<string, Build[]>();
  /** Cache of `all`, until a workspace is added or removed. */
  #all: readonly WorkspaceRecord[] | undefined;
  /** Cache of `inListOrder`, until a workspace or a build changes. */
  #listed: readonly WorkspaceRecord[] | undefined;
  readonly #parts: WorkspaceTableParts;

  constructor(parts: WorkspaceTableParts) {
    this.#parts = parts;
  }

  add(given: NewWorkspace): WorkspaceRecord {
    const { since = this.#parts.now() } = given;
    const names = this.#names(given);
    return this.#put(given, names, this.#firstBuild(given, names, since));
  }

  /** Creates a workspace as a person does: its first build is a start that is inserted now. */
  create(given: NewWorkspace): WorkspaceRecord {
    const { template, owner = this.#parts.owner, initiator = owner, ownTags = {}, willFail = false } = given;
    const workspace = this.#names(given);
    const version = template.activeVersion;
    const job = {
      ...buildJob({ template, version, ownTags, workspace, transition: 'start' }),
      initiatorId: initiator.id,
      durationMs: given.buildMs ?? template.buildMs.start,
      willFail,
    };
    const added: WorkspaceRecord[] = [];
    this.#parts.insert(job, (inserted) => {
      const build = { id: workspace.buildId, number: 1, transition: 'start', reason: 'initiator' } as const;
      const latestBuild = newBuild({ ...build, version, presetId: given.presetId, job: inserted });
      added.push(this.#put(given, workspace, latestBuild));
    });
    return this.#get(added[0]?.id ?? '', 'creating');
  }

  #names({ name, owner }: NewWorkspace): JobWorkspace {
    const names = { ...this.#parts.name(), ownerId: (owner ?? this.#parts.owner).id };
    return name === undefined ? names : { ...names, name };
  }

  #put(given: NewWorkspace, names: JobWorkspace, latestBuild: Build): WorkspaceRecord {
    const { template, schedule, dormantAt, since = this.#parts.now() } = given;
    const added: Workspace = {
      id: names.id,
      name: names.name,
      organizationId: template.organizationId,
      template,
      createdAt: since,
      schedule,
      nextStartAt: undefined,
      ttlMs: given.ttlMs ?? template.defaultTtlMs,
      lastUsedAt: since,
      dormantAt: undefined,
      deletingAt: undefined,
      owner: given.owner ?? this.#parts.owner,
      initiator: given.initiator ?? given.owner ?? this.#parts.owner,
      prebuilt: given.prebuilt ?? false,
      willFail: given.willFail ?? false,
      keepsVersion: given.keepsVersion ?? false,
      ownTags: given.ownTags ?? {},
      refusesBuilds: given.refusesBuilds ?? false,
      buildMs: given.buildMs,
      latestBuild,
      transitions: [],
      dueFrom: Number.POSITIVE_INFINITY,
    };
    this.#byId.set(added.id, added);
    this.#all = undefined;
    this.#builds.set(added.id, [added.latestBuild]);
    setNextStart(added, since);
    if (dormantAt !== undefined) setDormant(added, dormantAt);
    this.#completed(added, since);
    return added;
  }

  all(): readonly WorkspaceRecord[] {
    this.#all ??= [...this.#byId.values()];
    return this.#all;
  }

  /** As GetWorkspaces lists them: one that stops moves in the list between two pages. */
  inListOrder(): readonly WorkspaceRecord[] {
    this.#listed ??= this.all().toSorted(
      (a, b) =>
        Number(isRunning(b.latestBuild)) - Number(isRunning(a.latestBuild)) ||
        byText(a.owner.username, b.owner.username) ||
        byText(a.name, b.name),
    );
    return this.#listed;
  }

  /** The builds of a workspace, also of a deleted one, oldest first; undefined if it never existed. */
  builds(id: string): readonly BuildRecord[] | undefined {
    return this.#builds.get(id);
  }

  /** The workspaces that may have a due transition, and those whose next start the executor must compute. */
  dueAt(tick: EpochMs): readonly WorkspaceRecord[] {
    const due: Workspace[] = [];
    for (const workspace of this.#byId.values()) if (workspace.dueFrom <= tick) due.push(workspace);
    return due;
  }

  /** Records activity of the workspace's user: ActivityBumpWorkspace. */
  use(id: string): void {
    const workspace = this.#get(id, 'using');
    const { latestBuild } = workspace;
    const now = this.#parts.now();
    workspace.lastUsedAt = now;
    const bumpMs = bumpOf(workspace, now);
    const { deadline } = latestBuild;
    const isBumped = latestBuild.transition === 'start' && bumpMs > 0;
    // coderd does not write a deadline that moves by less than a twentieth of the bump.
    if (isBumped && deadline !== undefined && deadline - 0.95 * bumpMs < now)
      latestBuild.deadline = plusMs(now, bumpMs);
    this.#changed(workspace);
  }

  /** Inserts a build. @throws CoderdRefusal 404 unknown workspace, 409 the previous build has not ended */
  build(id: string, given: NewBuild): void {
    const workspace = this.#get(id, 'building');
    const { latestBuild, template } = workspace;
    if (latestBuild.job.completedAt === undefined && !given.mayOverlap)
      throw new CoderdRefusal(409, 'A workspace build is already active.');
    const { transition, reason, willFail = workspace.willFail } = given;
    const keepsVersion = workspace.keepsVersion && !template.requireActiveVersion;
    const version = keepsVersion ? latestBuild.version : template.activeVersion;
    const { name, owner, ownTags } = workspace;
    const buildId = this.#parts.random.uuid();
    const names = { id, name, buildId, ownerId: owner.id };
    const job = {
      ...buildJob({ template, version, ownTags, workspace: names, transition }),
      initiatorId: (reason === 'initiator' ? workspace.initiator : owner).id,
      durationMs: given.durationMs ?? workspace.buildMs ?? template.buildMs[transition],
      willFail,
    };
    this.#parts.insert(job, (inserted) => {
      const number = latestBuild.number + 1;
      // another version has other presets (FindMatchingPresetID)
      const presetId = version === latestBuild.version ? latestBuild.presetId : undefined;
      const build = { id: buildId, number, transition, reason, version, presetId, job: inserted };
      workspace.latestBuild = newBuild(build);
      this.#builds.get(id)?.push(workspace.latestBuild);
      if (transition === 'stop') setNextStart(workspace, inserted.createdAt);
      this.#changed(workspace);
    });
  }

  /** Shows another workspace's build as its latest, unless it has a later one. Nothing becomes due. */
  adopt(id: string, build: BuildRecord): void {
    const workspace = this.#get(id, 'adopting a build for');
    const { latestBuild } = workspace;
    if (build.createdAt < latestBuild.createdAt) return;
    workspace.latestBuild = newBuild({ ...build, number: latestBuild.number + 1 });
    this.#builds.get(id)?.push(workspace.latestBuild);
    this.#changed(workspace);
  }

  jobCompleted(job: Job): void {
    // another workspace may show its build: see `adopt`
    this.#listed = undefined;
    const workspace = job.workspace && this.#byId.get(job.workspace.id);
    if (workspace !== undefined && job.completedAt !== undefined) this.#completed(workspace, job.completedAt);
  }

  setSchedule(id: string, schedule: string | undefined): void {
    const workspace = this.#get(id, 'setting the schedule of');
    workspace.schedule = schedule;
    setNextStart(workspace, this.#parts.now());
    this.#changed(workspace);
  }

  /** Sets the TTL. The deadline of a build that has ended stays. */
  setTtl(id: string, ttlMs: number): void {
    const workspace = this.#get(id, 'setting the time to live of');
    workspace.ttlMs = ttlMs;
    this.#changed(workspace);
  }

  forgetNextStart(id: string): void {
    const workspace = this.#get(id, 'forgetting the next start of');
    workspace.nextStartAt = undefined;
    this.#changed(workspace);
  }

  /** Removes the workspace without a build, as if it had never existed. */
  remove(id: string): void {
    this.#byId.delete(id);
    this.#all = undefined;
    this.#listed = undefined;
    this.#builds.delete(id);
  }

  markDormant(id: string): void {
    const workspace = this.#get(id, 'marking as dormant');
    setDormant(workspace, this.#parts.now());
    this.#changed(workspace);
  }

  ownerChanged(ownerId: string): void {
    for (const workspace of this.#byId.values()) if (workspace.owner.id === ownerId) this.#changed(workspace);
  }

  templateChanged(templateId: string): void {
    for (const workspace of this.#byId.values())
      if (workspace.template.id === templateId) this.#changed(workspace);
  }

  /** Activates a dormant workspace, as its user does. coderd's next poll computes its next start. */
  markActive(id: string): void {
    const workspace = this.#get(id, 'marking as active');
    workspace.dormantAt = undefined;
    workspace.deletingAt = undefined;
    workspace.lastUsedAt = this.#parts.now();
    this.#changed(workspace);
  }

  /** What the executor does with each workspace that it does not change. */
  renewNextStart(id: string, tick: EpochMs): void {
    const workspace = this.#get(id, 'renewing the next start of');
    if (!lacksNextStart(workspace)) return;
    setNextStart(workspace, tick);
    this.#changed(workspace);
  }

  #firstBuild(given: NewWorkspace, names: JobWorkspace, createdAt: EpochMs): Build {
    const { template, running = false, latest } = given;
    const { reason = latest?.reason ?? 'initiator', owner = this.#parts.owner, ownTags = {} } = given;
    const version = template.activeVersion;
    const transition = running ? 'start' : 'stop';
    const past = buildJob({ template, version, ownTags, workspace: names, transition });
    const job =
      latest?.job ??
      pastJob({
        ...past,
        id: this.#parts.random.uuid() as JobId,
        createdAt,
        initiatorId: owner.id,
        tagKey: tagKey(past.tags),
        durationMs: template.buildMs[transition],
        willFail: false,
      });
    return newBuild({ id: names.buildId, number: 1, transition, reason, version, job });
  }

  #completed(workspace: Workspace, at: EpochMs): void {
    const { transition, job } = workspace.latestBuild;
    if (job.status === 'succeeded') {
      setDeadlines(workspace, at);
      setNextStart(workspace, at);
      if (transition === 'delete') {
        this.#byId.delete(workspace.id);
        this.#all = undefined;
      }
    }
    this.#changed(workspace);
  }

  #changed(workspace: Workspace): void {
    this.#listed = undefined;
    workspace.transitions = transitionsOf(workspace, this.#parts.rules);
    workspace.dueFrom = lacksNextStart(workspace)
      ? Number.NEGATIVE_INFINITY
      : Math.min(...workspace.transitions.map(({ at }) => at));
  }

  #get(id: string, doing: string): Workspace {
    const found = this.#byId.get(id);
    if (found === undefined) throw new CoderdRefusal(404, `${doing} workspace ${id}: there is none`);
    return found;
  }
}

export function isRunning({ transition, job }: BuildRecord): boolean {
  return transition === 'start' && job.status === 'succeeded';
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

type BuildJob = Pick<NewJob, 'template' | 'version'> & {
  readonly transition: Transition;
  readonly workspace: JobWorkspace;
  /** The workspace's own tags, which replace those of the version. */
  readonly ownTags: Tags;
};

function buildJob({ template, version, transition, workspace, ownTags }: BuildJob) {
  return {
    organizationId: template.organizationId,
    tags: tagsOf(version, ownTags, workspace.ownerId),
    type: 'workspace_build',
    template,
    version,
    transition,
    workspace,
  } as const;
}

function tagsOf(version: NewJob['version'], ownTags: Tags, ownerId: string | undefined): TagSet {
  const tags: Tags = { ...version.tags, ...ownTags };
  return normalizeTags(tags.scope === 'user' ? { ...tags, owner: ownerId ?? '' } : tags);
}

export type PastBuild = Pick<BuildRecord, 'id' | 'transition' | 'reason'> & {
  readonly template: TemplateRecord;
  readonly initiatorId: string;
  /** When it was made, and started. */
  readonly at: EpochMs;
  readonly endedAt: EpochMs;
};

/** A build from before the world began, which no daemon of the world ran. */
export function pastBuild({ template, initiatorId, at, endedAt, ...build }: PastBuild): BuildRecord {
  const { organizationId, activeVersion: version } = template;
  const { id, transition } = build;
  const job = pastJob({
    ...{ id: id as JobId, createdAt: at, organizationId, template, version, transition },
    ...{ tags: version.tags, tagKey: tagKey(version.tags), initiatorId, type: 'workspace_build' },
    ...{ workspace: undefined, durationMs: endedAt - at, willFail: false },
  });
  const ended = Object.assign(job, { completedAt: endedAt });
  return newBuild({ ...build, number: 1, version, job: ended });
}

/** A new build; its deadlines are set when it ends. */
export function newBuild(
  given: Omit<Build, 'createdAt' | 'deadline' | 'presetId'> & Partial<Pick<Build, 'presetId'>>,
): Build {
  const times = { createdAt: given.job.createdAt, deadline: undefined };
  return { presetId: undefined, ...given, ...times };
}

/**
 * Not of prebuilt ones. After the next autostart a deadline moves to the TTL after it
 * (CalculateAutostop).
 */
function setDeadlines(workspace: Workspace, at: EpochMs): void {
  const { latestBuild, ttlMs, prebuilt } = workspace;
  if (prebuilt) return;
  const next = nextStartOf(workspace, at);
  const end = plusMs(at, ttlMs);
  const wanted = next !== undefined && end > next ? plusMs(next, ttlMs) : end;
  latestBuild.deadline = ttlMs > 0 ? wanted : undefined;
}

/** None while dormant (trigger_nullify_next_start_at_on_workspace_autostart_modification). */
function setNextStart(workspace: Workspace, after: EpochMs): void {
  workspace.nextStartAt = workspace.dormantAt === undefined ? nextStartOf(workspace, after) : undefined;
}

function setDormant(workspace: Workspace, at: EpochMs): void {
  const { timeTilDormantAutodeleteMs } = workspace.template;
  workspace.dormantAt = at;
  workspace.nextStartAt = undefined;
  workspace.deletingAt = timeTilDormantAutodeleteMs > 0 ? plusMs(at, timeTilDormantAutodeleteMs) : undefined;
}

/** Whether the executor selects it because next_start_at is missing (GetWorkspacesEligibleForTransition). */
function lacksNextStart(workspace: Workspace): boolean {
  const { prebuilt, owner, dormantAt, schedule, nextStartAt, latestBuild } = workspace;
  const isStopped = latestBuild.transition === 'stop' && latestBuild.job.status !== 'failed';
  const isMeant = !prebuilt && owner.status === 'active' && dormantAt === undefined && isStopped;
  return isMeant && schedule !== undefined && nextStartAt === undefined;
}

/** The bump of activity. If it passes the next autostart, the workspace counts as started at that time. */
function bumpOf(workspace: Workspace, now: EpochMs): number {
  const { activityBumpMs } = workspace.template;
  const next = nextStartOf(workspace, now);
  const crosses = next !== undefined && now + activityBumpMs > next;
  return crosses ? next - now + workspace.ttlMs : activityBumpMs;
}

function nextStartOf({ schedule, template }: Workspace, after: EpochMs): EpochMs | undefined {
  return schedule === undefined ? undefined : nextAllowedAutostart(after, schedule, template.autostartDays);
}
