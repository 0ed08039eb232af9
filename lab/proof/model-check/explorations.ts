/** Builds the explorations, each for any variant of the protocol: the protocol as it is, or a mutant. */
import type { RuleReading } from '../../world/ecs/protection.ts';
import { GUARD_TABLE } from '../../world/task/guard-table.ts';
import { type Decider, deciderOf, type LookRules, PRODUCT, type Readings } from './deciders/decider.ts';
import { Product, type ProductRules } from './deciders/product.ts';
import { type Bounds, configOf } from './deciders/view.ts';
import { progressJudge } from './progress/progress.ts';
import { twoPoolsModel } from './two-pools/two-pools.ts';
import type { TwoPoolsLimits } from './two-pools/two-pools-state.ts';
import { nonsense } from './world/autoscalers.ts';
import type { Rules } from './world/clock-moves.ts';
import { GuardsModel } from './world/guards.ts';
import { PoolModel } from './world/pool.ts';
import { type PoolBound, PoolCodes } from './world/pool-state.ts';
import { type Judge, judgeAll, type Model } from './world/search.ts';
import { ASK } from './world/task.ts';

export type Variant = Omit<Rules, 'hasLateLooks'> & { readonly look: LookRules };

export const AS_IT_IS: Variant = {
  table: GUARD_TABLE,
  ask: ASK,
  stopsPromptly: true,
  drainsInTime: true,
  look: PRODUCT,
};

export type Exploration = {
  readonly name: string;
  readonly bound: PoolBound;
  readonly build: (variant: Variant) => Model;
};

/**
 * Every reading of DEPLOYMENT_BLOCKED (docs/internals/aws.md §1): which calls ECS refuses, and of
 * which tasks. Also readings in which old tasks do not count after an early success.
 */
const READINGS: readonly RuleReading[] = [
  { calls: 'off', tasks: 'all' },
  { calls: 'new-only', tasks: 'all' },
  { calls: 'new-only', tasks: 'old-revision' },
  { calls: 'all', tasks: 'all' },
  { calls: 'all', tasks: 'old-revision' },
  { calls: 'off', tasks: 'all', cleanup: { counts: false } },
  { calls: 'all', tasks: 'all', cleanup: { counts: false } },
];

/** Guards with a clock, under a nonsense autoscaler and the worst possible ECS scheduler. */
export function guards(bound: PoolBound, looks: 'prompt' | 'late'): Exploration {
  return {
    name: `guards with a clock and calls in flight${looks === 'late' ? ', looks answered late' : ''}`,
    bound,
    build: ({ look: _, ...rules }) => new GuardsModel(bound, { ...rules, hasLateLooks: looks === 'late' }),
  };
}

/** A pool under a nonsense autoscaler; every state must settle. */
export function nonsensePool(bound: PoolBound, limits: Bounds): Exploration {
  return {
    name: 'a pool with a nonsense autoscaler until the world is quiet',
    bound,
    build: ({ table, look }) => {
      const codes = new PoolCodes(bound);
      const rules = { table, autoscaler: nonsense, hasOperator: false, endsSessions: false };
      return new PoolModel(codes, rules, settlesFrom(codes, { table, limits, look }));
    },
  };
}

/** Looks by how many may run at the same time. 0: each ends at once. */
const LOOKS = {
  0: 'looks run one after the other',
  1: 'looks read at two moments, end early, lose replies',
  2: 'looks overlap, read at two moments, end early, lose replies',
} as const;

/** A pool under the product's autoscaler, with a person who removes protections. */
export function productPool(bound: PoolBound, limits: Bounds, overlapping: 0 | 1 | 2): Exploration {
  const name = `a pool with the product's autoscaler: ${LOOKS[overlapping]}`;
  return { name, bound, build: buildPool(bound, { limits, overlapping, startsFail: false }) };
}

function buildPool(bound: PoolBound, product: Omit<ProductRules, 'decider'>): Exploration['build'] {
  return ({ table, look }) => {
    const { limits } = product;
    const codes = new PoolCodes(bound);
    const decider = deciderFor(limits, look);
    const autoscaler = (of: PoolCodes) => new Product(of, { ...product, decider });
    const hasOperator = product.startsFail ? ('late' as const) : true;
    const rules = { table, autoscaler, hasOperator, endsSessions: true };
    // where starts keep failing, old tasks stay: the world need not settle
    const judges = product.startsFail ? [] : [settlesFrom(codes, { table, limits, look })];
    return new PoolModel(codes, rules, judgeAll(judges));
  };
}

/** The same pool after three failed starts that no success has ended: some starting tasks are given up. */
export function failingPool(bound: PoolBound, limits: Bounds, overlapping: 0 | 1 | 2): Exploration {
  const name = `a pool whose starts keep failing: ${LOOKS[overlapping]}`;
  const pool = buildPool(bound, { limits, overlapping, startsFail: true });
  const failing = ({ ecs, coder }: Readings) => ({ ecs: { ...ecs, startsFail: true }, coder });
  const build: Exploration['build'] = ({ look, ...variant }) =>
    pool({ ...variant, look: { ...look, see: (read) => look.see(failing(read)) } });
  return { name, bound, build };
}

export function twoPools(jobs: number, limits: Omit<TwoPoolsLimits, 'max'>): Exploration {
  const { maxTasks, min, hasStock } = limits;
  const kept = hasStock ? 'a stock' : min.some((count) => count > 0) ? 'a floor' : 'no floor';
  return {
    name: `two pools with one maxTasks of ${maxTasks}, ${kept}`,
    bound: { tasks: maxTasks, jobs },
    build: ({ look }) => twoPoolsModel({ ...limits, max: 2, jobs, look }),
  };
}

type Quiet = Pick<Variant, 'table' | 'look'> & { readonly limits: Bounds };

/** Judges progress: from every state and under every reading, a quiet world must settle under the product. */
function settlesFrom(codes: PoolCodes, { table, limits, look }: Quiet): Judge {
  const decider = deciderFor(limits, look);
  return judgeAll(
    READINGS.map((reading) => progressJudge(codes, { table, reading, decider, min: limits.min })),
  );
}

const deciders = new Map<string, Decider>();

/** Explorations share the product's deciders, as its decisions are the same; each mutant gets its own. */
function deciderFor(limits: Bounds, look: LookRules): Decider {
  if (look !== PRODUCT) return deciderOf(configOf(limits), look);
  const key = `${limits.min} ${limits.max}`;
  const known = deciders.get(key) ?? deciderOf(configOf(limits), look);
  deciders.set(key, known);
  return known;
}
