/** Builds at random times: workspaces, which coderd stops again, prebuilds, imports, unschedulable jobs. */
import { displayTags, type Tags } from '../../../lambda/decision/model/tags.ts';
import { some, tagText } from '../../../lambda/explain/format.ts';
import type { Random } from '../../world/base/random.ts';
import type { SubmittedJob } from '../../world/coderd/model.ts';
import type { WorkspaceRecord } from '../../world/coderd/tables/workspace-records.ts';
import type { EcsTask } from '../../world/ecs/task.ts';
import type { World } from '../../world/world.ts';

type Range = readonly [from: number, to: number];

/** Arrivals at random times, independent of each other. */
type Arrivals = {
  /** Mean time between two arrivals. */
  readonly everyS: number;
  /** The most jobs that arrive at once. */
  readonly atOnce: number;
  /** Shortest and longest duration of a build. */
  readonly seconds: Range;
};

type People = Arrivals & {
  readonly template: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly workspaces: number;
  /** How long a workspace runs until coderd stops it. */
  readonly runsMinutes: number;
};

type Others = Arrivals & { readonly what: string } & Omit<SubmittedJob, 'durationMs'>;

const PEOPLE: readonly People[] = [
  {
    template: 'docker',
    organization: 'default',
    tags: {},
    workspaces: 30,
    runsMinutes: 20,
    everyS: 75,
    atOnce: 2,
    seconds: [20, 60],
  },
  {
    template: 'notebook',
    organization: 'default',
    tags: { cluster: 'gpu' },
    workspaces: 10,
    runsMinutes: 8,
    everyS: 240,
    atOnce: 3,
    seconds: [40, 90],
  },
  {
    template: 'spark',
    organization: 'data',
    tags: { team: 'data' },
    workspaces: 12,
    runsMinutes: 12,
    everyS: 300,
    atOnce: 4,
    seconds: [20, 60],
  },
];

const OTHERS: readonly Others[] = [
  {
    what: 'template import',
    type: 'template_version_import',
    organization: 'default',
    tags: {},
    everyS: 420,
    atOnce: 1,
    seconds: [10, 20],
  },
  {
    what: 'prebuild',
    initiator: 'prebuilds',
    organization: 'default',
    tags: {},
    everyS: 480,
    atOnce: 3,
    seconds: [30, 60],
  },
  {
    what: 'unschedulable build',
    organization: 'default',
    tags: { cluster: 'tpu' },
    everyS: 1200,
    atOnce: 1,
    seconds: [30, 30],
  },
];

type Announce = (line: string) => void;
type Source = { readonly world: World; readonly random: Random; readonly announce: Announce };

/** Makes builds arrive from now on, for as long as the world's time advances. */
export function planBuilds(source: Source): void {
  for (const people of PEOPLE) planPeople(source, people);
  for (const others of OTHERS) arrive(source, others, () => submit(source, others));
  announceTransitions(source);
}

/** Announces what coderd does by itself: no person is the cause of these jobs. */
function announceTransitions({ world: { coderd, timeline }, announce }: Source): void {
  let before = timeline.now();
  timeline.every(SEEN_EVERY_MS, () => {
    const made = coderd.workspaces
      .all()
      .filter(({ latestBuild: { reason, createdAt } }) => reason !== 'initiator' && createdAt > before);
    before = timeline.now();
    const alike = Map.groupBy(made, ({ template, latestBuild: { reason } }) => `${reason} ${template.name}`);
    for (const [first, ...others] of alike.values())
      if (first !== undefined) {
        const { template, latestBuild } = first;
        const builds = some(1 + others.length, latestBuild.reason);
        announce(`coderd makes ${builds} of ${template.name} workspaces ${ofTags(latestBuild.version.tags)}`);
      }
  });
}

const SEEN_EVERY_MS = 1_000;

function ofTags(tags: Tags): string {
  const shown = displayTags(tags);
  return Object.keys(shown).length === 0 ? tagText(shown) : `(${tagText(shown)})`;
}

function arrive(source: Source, arrivals: Arrivals, act: () => void): void {
  // exponential times between arrivals: builds come independently of each other
  const delayS = -Math.log(1 - source.random.next()) * arrivals.everyS;
  source.world.timeline.after(delayS * 1000, () => {
    act();
    arrive(source, arrivals, act);
  });
}

function planPeople(source: Source, people: People): void {
  const { coderd } = source.world;
  const template = coderd.addTemplate({
    name: people.template,
    organization: people.organization,
    tags: people.tags,
    buildMs: { stop: 15_000 },
  });
  const own = Array.from({ length: people.workspaces }, (_, index) =>
    coderd.workspaces.add({
      template,
      name: `${people.template}-${index + 1}`,
      ttlMs: people.runsMinutes * 60_000,
    }),
  );
  arrive(source, people, () => startSome(source, people, own));
}

function startSome(source: Source, people: People, own: readonly WorkspaceRecord[]): void {
  const { world, random, announce } = source;
  const wanted = random.whole(1, people.atOnce);
  const stopped = own.filter(isStopped).slice(0, wanted);
  for (const workspace of stopped)
    world.coderd.build(workspace, 'start', { durationMs: durationMs(random, people.seconds) });
  if (stopped.length > 0)
    announce(`people start ${some(stopped.length, `${people.template} workspace`)} ${ofTags(people.tags)}`);
}

function isStopped({ latestBuild: { transition, job } }: WorkspaceRecord): boolean {
  return transition === 'stop' && job.completedAt !== undefined;
}

function submit({ world, random, announce }: Source, { what, atOnce, seconds, ...job }: Others): void {
  const jobs = random.whole(1, atOnce);
  for (let index = 0; index < jobs; index++)
    world.coderd.submitJob({ ...job, durationMs: durationMs(random, seconds) });
  announce(`coderd has ${some(jobs, `new ${what}`)} ${ofTags(job.tags ?? {})}`);
}

function durationMs(random: Random, [from, to]: Range): number {
  return random.whole(from * 1000, to * 1000);
}

const EVERY_MINUTES = 10;
const WORKSPACES_PER_START = 2;
const RUNS_MS = 4 * 60_000;

/** Workspaces that start every ten minutes by schedule and stop after four; their pool starts from zero. */
export function addScheduledWorkspaces(world: World): void {
  const template = world.coderd.addTemplate({
    name: 'web',
    organization: 'default',
    tags: { team: 'web' },
    buildMs: { start: 25_000, stop: 10_000 },
  });
  for (let minute = 0; minute < 60; minute += EVERY_MINUTES)
    for (let index = 1; index <= WORKSPACES_PER_START; index++)
      world.coderd.workspaces.add({
        template,
        name: `web-${minute}-${index}`,
        ttlMs: RUNS_MS,
        schedule: `CRON_TZ=UTC ${minute} * * * *`,
      });
}

const AGAIN_MS = 5_000;

/** In `afterMs`, or once a build runs then, the host of its task fails. */
export function planDeath(world: World, afterMs: number): void {
  world.timeline.after(Math.max(0, afterMs), () => {
    const task = world.ecs.tasks().find((it) => isBuilding(world, it));
    if (task === undefined) planDeath(world, AGAIN_MS);
    else world.ecs.hostFailure(task.identity.id);
  });
}

/** Only a person's workspace has an owner to show, and imports of templates leave nothing behind. */
function isBuilding(world: World, { identity: { id }, state }: EcsTask): boolean {
  if (state.lastStatus !== 'RUNNING' || world.guard(id)?.isBusy() !== true) return false;
  const daemon = world.coderd.daemons().find(({ name }) => name.endsWith(`-${id}`));
  const current = daemon && world.coderd.jobsOf(daemon).current;
  const own = new Set(world.coderd.workspaces.all().map(({ latestBuild }) => latestBuild.job.id));
  return current?.some((job) => own.has(job.id)) ?? false;
}
