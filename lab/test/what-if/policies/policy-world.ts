/** Runs a policy in a small simulated world. Its tasks have no guard, and fixed latencies. */
import { readConfig } from '../../../../lambda/config/read.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { canRun, type Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Policy, PolicyContext, PolicySettings } from '../../../what-if/policies/policy.ts';
import { World } from '../../../world/world.ts';

const START = Date.UTC(2026, 2, 2, 9) as EpochMs;
const SECOND = 1000;

export type PolicyWorldPool = { readonly name: string; readonly tags?: Tags; readonly max?: number };

export type PolicyWorld = {
  readonly world: World;
  /** Changes of desired counts: seconds since the start, pool, new count. */
  readonly changes: (readonly [atS: number, pool: string, to: number])[];
  readonly start: <Settings extends PolicySettings>(policy: Policy<Settings>, settings: Settings) => void;
  readonly passTo: (seconds: number) => void;
  readonly submit: (seconds: number, tags?: Tags) => void;
  readonly desired: (pool: string) => number;
  readonly setOutage: (isDown: boolean) => void;
};

export function makePolicyWorld(
  pools: readonly PolicyWorldPool[],
  { maxTasks = 500, seed = 7 }: { readonly maxTasks?: number; readonly seed?: number } = {},
): PolicyWorld {
  const full = pools.map((pool) => ({ organization: 'default', tags: {}, max: 100, ...pool }));
  const world = new World({
    start: START,
    seed,
    pools: full.map((pool) => ({ ...pool, desiredCount: 0, image: 'bare' })),
    latencies: {
      react: [1000, 1000],
      boot: [40_000, 40_000],
      connect: [3000, 3000],
      signal: [1000, 1000],
      stop: [10_000, 10_000],
    },
  });
  const document = {
    coder: { url: 'https://coder.example.com', token: { secret: 'token' } },
    limits: { maxTasks },
    defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
    pools: full.map((pool) => ({ ...pool, key: { secret: `keys/${pool.name}` } })),
  };
  const { config } = readConfig(JSON.stringify(document), 'autoscaler.yaml');
  const changes: (readonly [number, string, number])[] = [];
  let isDown = false;
  const desired = (pool: string): number => world.service(pool).state.desiredCount;
  const context: PolicyContext = {
    world,
    config,
    isCoderdDown: () => isDown,
    demandOf: (name) => {
      const { tags } = full.find((pool) => pool.name === name) ?? { tags: {} };
      const jobs = [...world.coderd.openJobs()].filter((job) => canRun(tags, job.tags));
      const pending = jobs.filter((job) => job.startedAt === undefined).length;
      return { pending, running: jobs.length - pending };
    },
    setDesired: (pool, count) => {
      const max = full.find(({ name }) => name === pool)?.max ?? 0;
      const to = Math.max(0, Math.min(max, count));
      if (to === desired(pool)) return;
      world.ecs.setDesiredCount(world.service(pool).identity.name, to);
      changes.push([(world.timeline.now() - START) / SECOND, pool, to]);
    },
  };
  return {
    ...{ world, changes, desired },
    start: (policy, settings) => policy.start(context, settings),
    passTo: (seconds) => world.timeline.advanceTo((START + seconds * SECOND) as EpochMs),
    submit: (seconds, tags = {}) => {
      world.coderd.submitJob({ organization: 'default', tags, durationMs: seconds * SECOND });
    },
    setOutage: (down) => {
      isDown = down;
    },
  };
}
