/**
 * Puts the jobs of a trace into a simulated world. Jobs of people, imports and prebuilds enter the
 * queue at their time. A job of coderd's lifecycle executor gets a workspace `VISIBLE_MS` earlier,
 * for which it becomes due. The forecast can read it, and the executor inserts it when it sees a
 * matching daemon.
 *
 * A workspace that the trace names stays in coderd's list with its latest build, as the record of
 * recent jobs needs it. No transition becomes due for it. A build without a transition in the trace
 * is a start.
 */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import { tagKey } from '../../../lambda/decision/model/tags.ts';
import { DAY_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { SubmittedJob } from '../../world/coderd/model.ts';
import type { JobRecord } from '../../world/coderd/tables/jobs.ts';
import type { TemplateRecord } from '../../world/coderd/tables/templates.ts';
import type {
  BuildReason,
  BuildRecord,
  NewWorkspace,
  WorkspaceRecord,
} from '../../world/coderd/tables/workspace-records.ts';
import { type PastBuild, pastBuild } from '../../world/coderd/tables/workspaces.ts';
import type { World } from '../../world/world.ts';
import {
  EXECUTOR_KINDS,
  executorTick,
  type JobKind,
  type TraceJob,
  type Transition,
} from '../trace/trace.ts';

export type ReplayedJob = {
  readonly job: TraceJob;
  /** Undefined until coderd inserts it. It then changes with the job. */
  readonly record: JobRecord | undefined;
};

/** Longer than the autoscaler looks ahead. coderd shows moving deadlines no earlier. */
const VISIBLE_MS = 2 * 60 * MINUTE_MS;
const DORMANT_AFTER_MS = 30 * DAY_MS;

type Entry = { readonly job: TraceJob; record: JobRecord | undefined };
/** A workspace that waits for its one job, or whose job has not ended. */
type Open = { readonly entry: Entry; readonly workspace: WorkspaceRecord };

export class Replay {
  readonly #world: World;
  readonly #entries: readonly Entry[];
  readonly #templates = new Map<string, TemplateRecord>();
  readonly #open = new Set<Open>();
  /** The workspaces that the trace names, by organization and name, as coderd's list shows them. */
  readonly #lasting = new Map<string, WorkspaceRecord>();
  #past = 0;

  /** `past`: jobs that have ended, the oldest first. coderd shows the builds of workspaces that the trace names. */
  constructor(world: World, jobs: readonly TraceJob[], past: readonly TraceJob[] = []) {
    this.#world = world;
    for (const job of past) this.#addPast(job);
    this.#entries = jobs.map((job) => ({ job, record: undefined }));
    for (const entry of this.#entries) this.#plan(entry);
    // one second after the executor, which runs at each full minute
    world.timeline.every(MINUTE_MS, () => this.#sweep(), MINUTE_MS + 1000);
  }

  jobs(): readonly ReplayedJob[] {
    return this.#entries;
  }

  due(): readonly TraceJob[] {
    const now = this.#world.timeline.now();
    return [...this.#open].flatMap(({ entry: { job }, workspace }) =>
      job.at <= now && workspace.latestBuild.number === 1 ? [job] : [],
    );
  }

  /** Call it at the end of the world. It finds the jobs that coderd inserted since the last sweep. */
  end(): void {
    this.#sweep();
  }

  #plan(entry: Entry): void {
    const { timeline } = this.#world;
    const { job } = entry;
    const inMs = job.at - timeline.now();
    if (EXECUTOR_KINDS.has(job.kind)) timeline.after(inMs - VISIBLE_MS, () => this.#add(entry));
    else
      timeline.after(inMs, () => {
        entry.record = this.#submit(job);
      });
  }

  #submit(job: TraceJob): JobRecord | undefined {
    const { coderd } = this.#world;
    if (job.kind !== 'user' || job.workspace === undefined)
      return coderd.job(coderd.submitJob(submitted(job)));
    const template = this.#templateOf(job);
    const known = this.#lastingOf(job);
    const workspace = known?.template === template ? known : coderd.workspaces.add({ template, ttlMs: 0 });
    // the trace now gives the workspace other tags, so it needs another template
    if (known !== undefined && known !== workspace) coderd.workspaces.remove(known.id);
    this.#lasting.set(lastingKey(job), workspace);
    coderd.build(workspace, job.transition ?? 'start', {
      durationMs: Math.round(job.seconds * 1000),
      mayOverlap: true,
    });
    return workspace.latestBuild.job;
  }

  #add(entry: Entry): void {
    const { coderd, timeline } = this.#world;
    const { job } = entry;
    const known = this.#lastingOf(job)?.latestBuild;
    const template = this.#templateOf(job);
    const workspace = coderd.workspaces.add({
      ...DUE[job.kind as keyof typeof DUE](job, timeline.now()),
      template,
      buildMs: Math.round(job.seconds * 1000),
      latest: known?.job.status === 'succeeded' ? known : this.#buildBefore(template),
    });
    this.#open.add({ entry, workspace });
  }

  #addPast(job: TraceJob): void {
    const { coderd, timeline } = this.#world;
    const endedAt = plusMs(job.at, Math.round(job.seconds * 1000));
    const isListed = job.kind === 'user' || EXECUTOR_KINDS.has(job.kind);
    if (!isListed || job.workspace === undefined || endedAt > timeline.now()) return;
    const template = this.#templateOf({ ...job, kind: 'user' });
    const transition = job.transition ?? TRANSITION_OF[job.kind] ?? 'start';
    const build = this.#pastBuild(template, { at: job.at, transition, reason: REASON_OF[job.kind], endedAt });
    const known = this.#lastingOf(job);
    if (transition === 'delete') {
      if (known !== undefined) coderd.workspaces.remove(known.id);
      this.#lasting.delete(lastingKey(job));
    } else if (known?.template === template) coderd.workspaces.adopt(known.id, build);
    else {
      if (known !== undefined) coderd.workspaces.remove(known.id);
      const given = { template, ttlMs: 0, running: transition === 'start', latest: build };
      this.#lasting.set(lastingKey(job), coderd.workspaces.add({ ...given, since: endedAt }));
    }
  }

  #pastBuild(template: TemplateRecord, times: PastTimes): BuildRecord {
    const { userId: initiatorId } = this.#world.coderd;
    return pastBuild({ ...times, id: `past-${++this.#past}`, template, initiatorId });
  }

  /** A build from before the trace, made by coderd and too old to count as activity of a person. */
  #buildBefore(template: TemplateRecord): Pick<BuildRecord, 'job' | 'reason'> {
    const at = plusMs(this.#world.timeline.now(), -DORMANT_AFTER_MS);
    const { job, reason } = this.#pastBuild(template, {
      ...{ at, endedAt: at, transition: 'stop', reason: 'autostop' },
    });
    // without startedAt its duration is unknown
    return { job: { ...job, startedAt: undefined }, reason };
  }

  #lastingOf(job: TraceJob): WorkspaceRecord | undefined {
    const known = job.workspace === undefined ? undefined : this.#lasting.get(lastingKey(job));
    // it is deleted, or its delete build runs
    return known?.latestBuild.transition === 'delete' ? undefined : known;
  }

  /** One template for all workspaces of an organization and tag set. Dormancy needs a template of its own. */
  #templateOf({ organization, tags, kind }: TraceJob): TemplateRecord {
    const isDormancy = kind === 'dormancy';
    const key = `${organization} ${tagKey(tags)} ${isDormancy}`;
    const timeTilDormantMs = isDormancy ? DORMANT_AFTER_MS : 0;
    const found =
      this.#templates.get(key) ?? this.#world.coderd.addTemplate({ organization, tags, timeTilDormantMs });
    this.#templates.set(key, found);
    return found;
  }

  /** Removes workspaces whose job has ended, so that no further transition becomes due. */
  #sweep(): void {
    for (const open of this.#open) {
      const { job, number } = open.workspace.latestBuild;
      if (number === 1) continue;
      open.entry.record = job;
      if (job.completedAt === undefined) continue;
      this.#handOver(open);
      this.#world.coderd.workspaces.remove(open.workspace.id);
      this.#open.delete(open);
    }
  }

  /** Moves the build to the workspace that the trace names. */
  #handOver({ entry: { job }, workspace }: Open): void {
    const { coderd } = this.#world;
    if (job.workspace === undefined) return;
    const known = this.#lastingOf(job);
    const { latestBuild: latest } = workspace;
    if (known !== undefined) coderd.workspaces.adopt(known.id, latest);
    else if (job.kind !== 'dormancy') {
      const running = latest.transition === 'start';
      const added = coderd.workspaces.add({ template: this.#templateOf(job), ttlMs: 0, running, latest });
      this.#lasting.set(lastingKey(job), added);
    }
  }
}

type PastTimes = Omit<PastBuild, 'id' | 'template' | 'initiatorId'>;

/** What coderd makes by itself. */
const TRANSITION_OF: Partial<Record<JobKind, Transition>> = { autostop: 'stop', dormancy: 'stop' };
const REASON_OF: Readonly<Record<JobKind, BuildReason>> = {
  ...{ user: 'initiator', prebuild: 'initiator', import: 'initiator' },
  ...{ autostart: 'autostart', autostop: 'autostop', dormancy: 'dormancy' },
};

const lastingKey = ({ organization, workspace }: TraceJob): string => `${organization} ${workspace}`;

function submitted({ organization, tags, seconds, kind, transition = 'start' }: TraceJob): SubmittedJob {
  return {
    organization,
    tags,
    durationMs: Math.round(seconds * 1000),
    initiator: kind === 'prebuild' ? 'prebuilds' : 'user',
    transition,
    type: kind === 'import' ? 'template_version_import' : 'workspace_build',
  };
}

/** The fields of a workspace for which exactly this transition becomes due at `job.at`. */
const DUE: Readonly<
  Record<
    'autostart' | 'autostop' | 'dormancy',
    (job: TraceJob, now: EpochMs) => Omit<NewWorkspace, 'template' | 'buildMs'>
  >
> = {
  // schedules have whole minutes: round up, so that it is never early
  autostart: ({ at }) => ({ schedule: weekly(executorTick(at)) }),
  // coderd stops a workspace after its deadline, not at it
  autostop: ({ at }, now) => ({ running: true, ttlMs: Math.max(1, at - now - 1), since: now }),
  // a workspace becomes dormant after it has been unused for longer than this
  dormancy: ({ at }) => ({ running: true, ttlMs: 0, since: plusMs(at, -DORMANT_AFTER_MS - 1) }),
};

function weekly(time: number): string {
  const date = new Date(time);
  return `${date.getUTCMinutes()} ${date.getUTCHours()} * * ${date.getUTCDay()}`;
}
