/** The events of the demo: five tag sets in two organizations, autostarts, and a new image halfway. */
import { stringify } from 'yaml';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { normalizeTags, type Tags } from '../../lambda/decision/model/tags.ts';
import { some } from '../../lambda/explain/format.ts';
import { tagsetContains } from '../world/coderd/rules/tagset-contains.ts';
import type { JobRecord } from '../world/coderd/tables/jobs.ts';
import type { WorkspaceRecord } from '../world/coderd/tables/workspace-records.ts';
import { type PoolSpec, World, type WorldOptions } from '../world/world.ts';

type Pool = PoolSpec & { readonly max: number };

const GPU = { cluster: 'gpu' };
const GPU_IN_EUROPE = { cluster: 'gpu', region: 'eu' };
const DATA = { team: 'data' };
/** Only schedules start builds in this pool, from zero (docs/internals/coder.md §10). */
const SLEEPING = { name: 'web', organization: 'default', tags: { team: 'web' } } as const;

/** All start at zero. The tags overlap on purpose: `gpu-eu` can run every job of `gpu`. */
export const POOLS: readonly Pool[] = [
  { name: 'default', organization: 'default', tags: {}, max: 20, desiredCount: 0 },
  { name: 'gpu', organization: 'default', tags: GPU, max: 6, desiredCount: 0 },
  { name: 'gpu-eu', organization: 'default', tags: GPU_IN_EUROPE, max: 6, desiredCount: 0 },
  { name: 'data', organization: 'data', tags: DATA, max: 6, desiredCount: 0 },
  { ...SLEEPING, max: 6, desiredCount: 0 },
];

type Submission = {
  /** Simulated seconds since the start of the demo. */
  readonly atS: number;
  readonly what: string;
  readonly jobs: number;
  /** @default 'default' */
  readonly organization?: string;
  /** @default none */
  readonly tags?: Tags;
  /** Shortest and longest duration of a build. */
  readonly seconds: readonly [from: number, to: number];
  readonly prebuilds?: boolean;
  /** Of a new version of a template, instead of a workspace that a person creates. */
  readonly isImport?: boolean;
};

/** The owners of the workspaces, by turns. */
const OWNERS = ['ada', 'ben', 'chen', 'dora', 'emil', 'fay', 'gus', 'hana', 'ivo', 'june', 'kim', 'lea'];

const SUBMISSIONS: readonly Submission[] = [
  { atS: 10, what: 'a template push', jobs: 2, seconds: [15, 25], isImport: true },
  { atS: 20, what: 'an unschedulable job', jobs: 1, tags: { cluster: 'tpu' }, seconds: [30, 30] },
  { atS: 40, what: 'a burst: thirty people start work', jobs: 30, seconds: [30, 75] },
  {
    atS: 55,
    what: 'GPU workspaces in any region (gpu or gpu-eu, whichever is free first)',
    jobs: 5,
    tags: GPU,
    seconds: [40, 80],
  },
  { atS: 60, what: 'GPU workspaces in Europe', jobs: 3, tags: GPU_IN_EUROPE, seconds: [40, 80] },
  { atS: 70, what: 'data workspaces', jobs: 5, organization: 'data', tags: DATA, seconds: [20, 60] },
  { atS: 90, what: 'prebuilt workspaces', jobs: 8, seconds: [30, 60], prebuilds: true },
  { atS: 140, what: 'more GPU workspaces', jobs: 4, tags: GPU, seconds: [30, 60] },
];

/** Deployments of new images while builds run. At most one per pool. */
const DEPLOYMENTS: readonly { readonly atS: number; readonly pool: string }[] = [{ atS: 115, pool: 'gpu' }];

/** Simulated time since the start of the demo, which is a full hour. */
const AUTOSTART_MINUTE = 3;
const SLEEPERS = 5;

/** Time of the last submission, deployment or autostart, in simulated milliseconds since the start. */
const LAST_STEP_MS = Math.max(
  AUTOSTART_MINUTE * 60_000,
  ...[...SUBMISSIONS, ...DEPLOYMENTS].map(({ atS }) => atS * 1000),
);

export function hasPlayed(world: World): boolean {
  return world.timeline.now() - START > LAST_STEP_MS;
}

/** The first pool that can run a job. Undefined: none can. */
export function poolFor(world: World, job: JobRecord): Pool | undefined {
  return POOLS.find((pool) => canRun(world, pool, job));
}

export function canRun(world: World, { organization, tags }: Pool, job: JobRecord): boolean {
  return (
    world.coderd.organizationId(organization) === job.organizationId &&
    tagsetContains(normalizeTags(tags), job.tags)
  );
}

export const START = Date.parse('2026-03-02T09:00:00Z') as EpochMs;
/** Simulated seconds per second of the function. */
export const SPEED = 10;
/** Simulated time between two looks. */
export const LOOKS_MS = 1_000 * SPEED;
/** Simulated time between two invocations. The first comes when ECS's answers have the services. */
export const SCHEDULE = { firstMs: 5_000, everyMs: 60_000 };
/** How long the demo takes in simulated time, for its progress: a little more than measured. */
export const TYPICAL_LENGTH_MS = 465_000;

export function demoWorld(given: Pick<WorldOptions, 'seed'> & Partial<WorldOptions>): World {
  return new World({
    start: START,
    pools: POOLS,
    latencies: { boot: [8_000, 20_000], stop: [2_000, 6_000], healthyMs: 15_000 },
    readLagMs: 2_000,
    // the mildest reading of AWS's text: in the others old tasks can take 40 min to leave, which is
    // too long to watch
    deploymentBlocked: 'new-only',
    blockedTasks: 'old-revision',
    ...given,
  });
}

/** Schedules all submissions and deployments. `announce` gets a line for each, and for its result. */
export function planSteps(
  world: World,
  random: { whole(from: number, to: number): number },
  announce: (line: string) => void,
): void {
  planSubmissions(world, random, announce);
  for (const { atS, pool } of DEPLOYMENTS)
    world.timeline.after(atS * 1000, () => {
      world.deploy(pool);
      const { revision } = world.service(pool).state.primary.definition;
      announce(
        `pool ${pool}: revision ${revision} with a new image is deployed; old tasks finish their builds first`,
      );
      announceOnce(
        world,
        () => {
          if (isDeployed(world, pool))
            return `pool ${pool}: all tasks run revision ${revision}, the deployment is complete`;
        },
        announce,
      );
    });
}

/** Creates stopped workspaces with a schedule. `announce` gets a line when coderd starts them. */
export function planAutostarts(world: World, announce: (line: string) => void): void {
  const { organization, tags, name } = SLEEPING;
  const template = world.coderd.addTemplate({ organization, tags, buildMs: { start: 30_000 } });
  for (let index = 0; index < SLEEPERS; index++)
    world.coderd.workspaces.add({ template, schedule: `CRON_TZ=UTC ${AUTOSTART_MINUTE} * * * *` });
  announce(
    `${SLEEPERS} workspaces of pool ${name} start by schedule at 09:0${AUTOSTART_MINUTE}; nobody submits a job for them`,
  );
  announceOnce(
    world,
    () => {
      const inserted = world.coderd.workspaces.all().filter(isAutostarted).length;
      if (inserted > 0) return `coderd starts ${inserted} workspaces of pool ${name} by schedule`;
    },
    announce,
  );
}

/** Announces a line as soon as there is one. */
function announceOnce(
  world: World,
  lineNow: () => string | undefined,
  announce: (line: string) => void,
): void {
  const look = world.timeline.every(LOOK_MS, () => {
    const line = lineNow();
    if (line === undefined) return;
    look.cancel();
    announce(line);
  });
}

const LOOK_MS = 1_000;

export type Autostarts = { readonly due: number; readonly started: number };

/** How many autostarts are due in total, and how many succeeded. */
export function countAutostarts(world: World): Autostarts {
  const workspaces = world.coderd.workspaces.all();
  const started = workspaces.filter((it) => isAutostarted(it) && it.latestBuild.job.status === 'succeeded');
  return { due: SLEEPERS, started: started.length };
}

function isAutostarted({ latestBuild }: WorkspaceRecord): boolean {
  return latestBuild.reason === 'autostart';
}

export function countDeployments(world: World): { readonly started: number; readonly completed: number } {
  const started = DEPLOYMENTS.filter(({ pool }) => world.service(pool).state.primary.definition.revision > 1);
  return {
    started: started.length,
    completed: started.filter(({ pool }) => isDeployed(world, pool)).length,
  };
}

function isDeployed(world: World, pool: string): boolean {
  return world.service(pool).state.primary.rolloutState === 'COMPLETED';
}

export function planSubmissions(
  world: World,
  random: { whole(from: number, to: number): number },
  announce: (line: string) => void,
): void {
  const owners = OWNERS.map((username) => world.coderd.addUser({ username }));
  let workspaces = 0;
  for (const submission of SUBMISSIONS) {
    const { atS, what, jobs, seconds, organization = 'default', tags = {} } = submission;
    const kept = submission.prebuilds || submission.isImport;
    const template = kept ? undefined : world.coderd.addTemplate({ organization, tags });
    world.timeline.after(atS * 1000, () => {
      announce(`${what}: ${some(jobs, 'job')} submitted`);
      for (let index = 0; index < jobs; index++) {
        const durationMs = random.whole(seconds[0] * 1000, seconds[1] * 1000);
        if (template === undefined) {
          const type = submission.isImport ? 'template_version_import' : 'workspace_build';
          const initiator = submission.prebuilds ? 'prebuilds' : 'user';
          world.coderd.submitJob({ organization, tags, durationMs, initiator, type });
        } else {
          const owner = owners[workspaces % owners.length];
          workspaces += 1;
          world.coderd.workspaces.create({
            template,
            name: `dev-${workspaces}`,
            buildMs: durationMs,
            ...(owner && { owner }),
          });
        }
      }
    });
  }
}

export function demoConfig(coderdUrl: string): string {
  return stringify({
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    looks: { every: `${LOOKS_MS / SPEED / 1_000}s` },
    limits: { maxTasks: 50 },
    roll: { atOnce: '50%' },
    pools: POOLS.map(({ name, organization, tags, max }) => {
      const key = { secret: `coder/keys/${name}` };
      // with a stock a pool would keep daemons for the next burst, but the demo has to end at zero
      return { name, organization, tags, key, min: 0, max, warm: 0, startTime: '30s' };
    }),
  });
}
