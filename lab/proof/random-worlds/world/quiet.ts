/** Changes the plan of a random world as a person asks for on the command line. */
import type { WorldPlan } from './plan.ts';

/** How ECS refuses protections: calls that it refuses, of all tasks or of old ones only. */
export const BLOCKED = {
  off: { deploymentBlocked: 'off', blockedTasks: 'all' },
  all: { deploymentBlocked: 'all', blockedTasks: 'all' },
  'new-only': { deploymentBlocked: 'new-only', blockedTasks: 'all' },
  'old-revision': { deploymentBlocked: 'all', blockedTasks: 'old-revision' },
} as const;

export type Variant = {
  /** Whether nothing fails, nobody intervenes, and nothing is deployed. @default false */
  readonly quiet?: boolean | undefined;
  /** Whether lists of ECS are as old as the plan says. @default true */
  readonly readLag?: boolean | undefined;
  /** In place of the drawn one, with a deployment every two hours and no early success. */
  readonly blocked?: keyof typeof BLOCKED | undefined;
};

const NO_FAULTS = { failing: 0, losing: 0 };

const QUIET = {
  isQuiet: true,
  looks: { doubled: 0, crashing: 0, slow: 0 },
  messages: { lost: 0, repeated: 0, late: 0 },
  line: NO_FAULTS,
  agent: NO_FAULTS,
  incidents: {},
  outOfMemoryAnHour: 0,
  fakeDaemonsAnHour: 0,
  overridesAnHour: 0,
  retirements: [],
  secrets: { changesAnHour: 0, listLagMs: 0, forbiddenAnHour: 0, liesAnHour: 0 },
} satisfies Partial<WorldPlan>;

export function variantOf(drawn: WorldPlan, { quiet = false, readLag = true, blocked }: Variant): WorldPlan {
  const { processLifeMs } = drawn.memory;
  let plan = quiet ? { ...drawn, ...QUIET, memory: { processLifeMs, recordAnHour: 0 } } : drawn;
  if (!readLag) plan = { ...plan, world: { ...plan.world, readLagMs: 0 } };
  if (blocked === undefined) return plan;
  return {
    ...plan,
    isQuiet: false,
    pools: plan.pools.map(({ earlySuccessPercent: _, ...pool }) => pool),
    world: { ...plan.world, ...BLOCKED[blocked] },
    incidents: { ...plan.incidents, deployment: 0.5, 'deployments in a row': 0 },
  };
}
