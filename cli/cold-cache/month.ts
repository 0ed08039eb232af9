/** What the builds with empty caches cost in a month. */
import { meanOf, partition, sum } from '../../lambda/decision/model/collections.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { dollarsOf, VIRGINIA } from '../../lambda/decision/settings/prices.ts';
import type { Group, GroupedBuild } from './build-groups.ts';
import { type Factor, times } from './coverage.ts';
import { type Estimate, estimateSum, type Term } from './interval.ts';

/** Fewer timings of a group say too little about it. */
export const LEAST_BUILDS = 8;
const DAYS_A_MONTH = 30;

/** The groups whose builds may have had empty caches. */
export const COLDER = ['first', 'new', 'unsure'] as const satisfies readonly Group[];

export type MonthEstimate = {
  /** Of all builds. */
  readonly seconds: Estimate;
  /** Waiting and Fargate together. */
  readonly dollars: Estimate;
  /** Of builds that people submitted. */
  readonly personSeconds: number;
  readonly waitingDollars: number;
  readonly fargateDollars: number;
};

/** All builds of a group, and the seconds of the inits that were read. */
export type Measured = { readonly builds: readonly GroupedBuild[]; readonly inits: readonly number[] };

/** The builds of one template. */
export type Groups = ReadonlyMap<Group, Measured>;

export type Basis = {
  readonly pools: ReadonlyMap<string, PoolConfig>;
  /** The length of the period. */
  readonly days: number;
  /** All builds, as a multiple of those that were found. */
  readonly unseen: Factor;
};

export const isTimed = (group: Measured | undefined): group is Measured =>
  (group?.inits.length ?? 0) >= LEAST_BUILDS;

/** Whether there are enough warm timings to compare with, and enough others. */
export function isEnough(timings: (group: Group) => number): boolean {
  return timings('warm') >= LEAST_BUILDS && sum(COLDER, timings) >= LEAST_BUILDS;
}

/** What all builds of these templates cost in a month. */
export function monthOf(all: readonly Groups[], { pools, days, unseen }: Basis): MonthEstimate {
  const scale = DAYS_A_MONTH / days;
  const total = (perSecond: (build: GroupedBuild, pool: PoolConfig) => number): readonly Term[] =>
    all.flatMap((groups) =>
      excess(groups, (build) => {
        const pool = pools.get(build.pool);
        return pool === undefined ? 0 : perSecond(build, pool) * scale;
      }),
    );
  const ofAll = (terms: readonly Term[]): Estimate => times(estimateSum(terms), unseen);
  const valueOnly = (terms: readonly Term[]): number =>
    unseen.value * sum(terms, (term) => term.weight * meanOf(term.values));
  return {
    seconds: ofAll(total(() => 1)),
    dollars: ofAll(total((build, pool) => waitingPrice(build, pool) + fargatePrice(pool))),
    personSeconds: valueOnly(total(({ kind }) => Number(kind === 'person'))),
    waitingDollars: valueOnly(total(waitingPrice)),
    fargateDollars: valueOnly(total((_, pool) => fargatePrice(pool))),
  };
}

/** Each build that may be cold, with the mean of its group less that of the warm ones. */
function excess(groups: Groups, weightOf: (build: GroupedBuild) => number): readonly Term[] {
  const warm = groups.get('warm');
  const terms = colderOf(groups).map(({ builds, inits }) => ({
    values: inits,
    weight: sum(builds, weightOf),
  }));
  return [...terms, { values: warm?.inits ?? [], weight: -sum(terms, ({ weight }) => weight) }];
}

/** The groups; those with few timings as one. */
function colderOf(groups: Groups): readonly Measured[] {
  const [timed, few] = partition(
    COLDER.flatMap((group) => groups.get(group) ?? []),
    isTimed,
  );
  const rest = { builds: few.flatMap(({ builds }) => builds), inits: few.flatMap(({ inits }) => inits) };
  return rest.inits.length < 2 ? timed : [...timed, rest];
}

/** Dollars a second: the price of waiting of the build's pool. */
export const waitingPrice = ({ kind }: GroupedBuild, { waiting }: PoolConfig): number => waiting[kind] / 60;

/** Dollars a second: the task is billed while it builds. */
export const fargatePrice = (pool: PoolConfig): number => dollarsOf(pool, VIRGINIA) / 3600;
