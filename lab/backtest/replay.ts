/**
 * Puts the jobs of a trace into a world. What people, pushes and the prebuilds' reconciler ask for is inserted at its time. What coderd's
 * lifecycle executor inserts has a workspace each, which is there `VISIBLE_MS` before and for which it becomes due then: the executor
 * inserts the job when it sees a daemon that fits, and the forecast can read it coming.
 */
import { type EpochMs, plusMs } from '../../lambda/core/brands.ts';
import { tagKey } from '../../lambda/core/tags.ts';
import type { JobRecord } from '../coderd/jobs.ts';
import type { SubmittedJob } from '../coderd/model.ts';
import type { TemplateRecord } from '../coderd/templates.ts';
import type { NewWorkspace, WorkspaceRecord } from '../coderd/workspaces.ts';
import { EXECUTOR_KINDS, executorTick, type TraceJob } from '../trace/trace.ts';
import type { World } from '../world.ts';

/** A job of the trace and what has become of it. */
export type ReplayedJob = {
  readonly job: TraceJob;
  /** Undefined until it is inserted; then live. */
  readonly record: JobRecord | undefined;
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Longer than the product looks ahead (`wake.maxDelay` of an hour and a start); deadlines that move are told no earlier by coderd. */
const VISIBLE_MS = 2 * 60 * MINUTE_MS;
const DORMANT_AFTER_MS = 30 * DAY_MS;

type Entry = { readonly job: TraceJob; record: JobRecord | undefined };
/** A workspace that waits for its one job, or whose job is not over. */
type Open = { readonly entry: Entry; readonly workspace: WorkspaceRecord };

export class Replay {
  readonly #world: World;
  readonly #entries: readonly Entry[];
  readonly #templates = new Map<string, TemplateRecord>();
  readonly #open = new Set<Open>();

  constructor(world: World, jobs: readonly TraceJob[]) {
    this.#world = world;
    this.#entries = jobs.map((job) => ({ job, record: undefined }));
    for (const entry of this.#entries) this.#plan(entry);
    // a second after the executor, which comes at each full minute
    world.timeline.every(MINUTE_MS, () => this.#sweep(), MINUTE_MS + 1000);
  }

  /** In the order of the trace. */
  jobs(): readonly ReplayedJob[] {
    return this.#entries;
  }

  /** Those that are due for which coderd has inserted no job yet. */
  due(): readonly TraceJob[] {
    const now = this.#world.timeline.now();
    return [...this.#open].flatMap(({ entry: { job }, workspace }) =>
      job.at <= now && workspace.latestBuild.number === 1 ? [job] : [],
    );
  }

  /** To be called when the world has come to its end: what was inserted since the last sweep is found. */
  end(): void {
    this.#sweep();
  }

  #plan(entry: Entry): void {
    const { timeline, coderd } = this.#world;
    const { job } = entry;
    const inMs = job.at - timeline.now();
    if (EXECUTOR_KINDS.has(job.kind)) timeline.after(inMs - VISIBLE_MS, () => this.#add(entry));
    else
      timeline.after(inMs, () => {
        entry.record = coderd.job(coderd.submitJob(submitted(job)));
      });
  }

  #add(entry: Entry): void {
    const { coderd, timeline } = this.#world;
    const { job } = entry;
    const workspace = coderd.addWorkspace({
      ...DUE[job.kind as keyof typeof DUE](job, timeline.now()),
      template: this.#templateOf(job),
      buildMs: Math.round(job.seconds * 1000),
    });
    this.#open.add({ entry, workspace });
  }

  /** One for all workspaces of an organization and tag set whose kind needs the same of it. */
  #templateOf({ organization, tags, kind }: TraceJob): TemplateRecord {
    const isDormancy = kind === 'dormancy';
    const key = `${organization} ${tagKey(tags)} ${isDormancy}`;
    const timeTilDormantMs = isDormancy ? DORMANT_AFTER_MS : 0;
    const found =
      this.#templates.get(key) ?? this.#world.coderd.addTemplate({ organization, tags, timeTilDormantMs });
    this.#templates.set(key, found);
    return found;
  }

  /** A workspace whose job is over has served: nothing more becomes due for it. */
  #sweep(): void {
    for (const open of this.#open) {
      const { job, number } = open.workspace.latestBuild;
      if (number === 1) continue;
      open.entry.record = job;
      if (job.completedAt === undefined) continue;
      this.#world.coderd.removeWorkspace(open.workspace);
      this.#open.delete(open);
    }
  }
}

function submitted({ organization, tags, seconds, kind }: TraceJob): SubmittedJob {
  return {
    organization,
    tags,
    durationMs: Math.round(seconds * 1000),
    initiator: kind === 'prebuild' ? 'prebuilds' : 'user',
    type: kind === 'import' ? 'template_version_import' : 'workspace_build',
  };
}

/** What a workspace is for which just this becomes due at `job.at`. */
const DUE: Readonly<
  Record<
    'autostart' | 'autostop' | 'dormancy',
    (job: TraceJob, now: EpochMs) => Omit<NewWorkspace, 'template' | 'buildMs'>
  >
> = {
  // schedules have minutes: never before its time
  autostart: ({ at }) => ({ schedule: weekly(executorTick(at)) }),
  autostop: ({ at }, now) => ({ running: true, ttlMs: Math.max(1, at - now), since: now }),
  // dormant is who has been unused for longer
  dormancy: ({ at }) => ({ running: true, ttlMs: 0, since: plusMs(at, -DORMANT_AFTER_MS - 1) }),
};

function weekly(time: number): string {
  const date = new Date(time);
  return `${date.getUTCMinutes()} ${date.getUTCHours()} * * ${date.getUTCDay()}`;
}
