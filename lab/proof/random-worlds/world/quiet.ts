/** Takes the faults out of the plan of a random world. */
import { drawPlan, seeded, type WorldPlan } from './plan.ts';

const NO_FAULTS = { failing: 0, losing: 0 };

const QUIET = {
  isQuiet: true,
  looks: { doubled: 0, crashing: 0, slow: 0 },
  messages: { lost: 0, repeated: 0, late: 0 },
  line: NO_FAULTS,
  coderdMsAJob: 0,
  agent: NO_FAULTS,
  incidents: {},
  databaseFactor: 0,
  outOfMemoryAnHour: 0,
  fakeDaemonsAnHour: 0,
  overridesAnHour: 0,
  retirements: [],
  secrets: { changesAnHour: 0, listLagMs: 0, forbiddenAnHour: 0, liesAnHour: 0 },
} satisfies Partial<WorldPlan>;

/** The plan of a world; if it is quiet, nothing fails, nobody intervenes, and nothing is deployed. */
export function planOf(seed: number, isQuiet: boolean): WorldPlan {
  const drawn = drawPlan(seed);
  const memory = { processLifeMs: drawn.memory.processLifeMs, recordAnHour: 0 };
  return isQuiet ? { ...drawn, ...QUIET, memory } : drawn;
}

/** How often each fault of what looks see comes in a world of its own. */
const SIGHT_FAULTS = { 'service without a row': 2, 'lists failing': 3, 'heartbeats old': 1 };
/** Many short worlds tell more than a few long ones. */
const MOST_HOURS = 3;
/** Where pools are full, a look that forgets why it launched nothing launches nothing either. */
const LEAST_MAX = 16;
const LEAST_MAX_TASKS = 24;
const MOST_LOOK_EVERY_S = 10;

/**
 * A quiet world in which looks cannot see all (events/partial-sight.ts), and starts may fail meanwhile. Nothing else
 * fails and pools have room, so what it costs more than its twin is the price of partial sight. In half of these
 * worlds lists fail for seconds only.
 */
export function sightPlanOf(seed: number): WorldPlan {
  const quiet = planOf(seed, true);
  return {
    ...quiet,
    isQuiet: false,
    busyHours: Math.min(quiet.busyHours, MOST_HOURS),
    pools: quiet.pools.map((pool) => ({ ...pool, max: Math.max(pool.max, LEAST_MAX) })),
    maxTasks: Math.max(quiet.maxTasks, LEAST_MAX_TASKS),
    dollarsPerHour: undefined,
    lookEveryS: Math.min(quiet.lookEveryS, MOST_LOOK_EVERY_S),
    incidents: SIGHT_FAULTS,
    outages: seeded(seed + 88).next() < 0.5 ? 'any' : 'brief',
  };
}
