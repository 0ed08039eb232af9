/** What the command reports. The screen and the JSON document show the same figures. */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import type { GroupedBuild, Omission } from './build-groups.ts';
import { factorOf } from './coverage.ts';
import { type ColdCacheEstimate, estimateColdCache } from './estimate.ts';
import type { BuildHistory } from './history.ts';

export type Period = { readonly from: EpochMs; readonly to: EpochMs };

export type ColdCacheReport = ColdCacheEstimate & {
  readonly period: Period;
  /** The most builds of a group whose timings are read. */
  readonly sample: number;
  /** Builds whose timings were read. */
  readonly timed: number;
  /** Builds that were chosen but have no timings, or none that the token's user may read. */
  readonly untimed: number;
  readonly names: ReadonlyMap<string, string>;
  readonly pools: ReadonlyMap<string, PoolConfig>;
  /** Builds that are left out, by reason. */
  readonly omitted: Readonly<Record<Omission, number>>;
  readonly unreadableWorkspaces: number;
  /** The estimated share of all builds that could not be found. The month includes them. */
  readonly unseenShare: number;
};

export const DAY_MS = 24 * 3_600_000;

/** Makes the report of builds, and of the init seconds of the chosen ones by build id. */
export function coldCacheReport(given: {
  readonly history: Pick<BuildHistory, 'names' | 'unreadable' | 'coverage'>;
  readonly grouped: {
    readonly builds: readonly GroupedBuild[];
    readonly omitted: ColdCacheReport['omitted'];
  };
  readonly inits: ReadonlyMap<string, number>;
  readonly chosen: number;
  readonly sample: number;
  readonly period: Period;
  readonly pools: ReadonlyMap<string, PoolConfig>;
}): ColdCacheReport {
  const { history, grouped, inits, chosen, sample, period, pools } = given;
  const days = (period.to - period.from) / DAY_MS;
  const unseen = factorOf(history.coverage);
  return {
    ...estimateColdCache(grouped.builds, inits, { pools, days, unseen }),
    ...{ period, sample, pools },
    timed: inits.size,
    untimed: chosen - inits.size,
    names: history.names,
    omitted: grouped.omitted,
    unreadableWorkspaces: history.unreadable,
    unseenShare: 1 - 1 / unseen.value,
  };
}

/** The name of a template, or its id if coderd does not list it any more. */
export function nameOf({ names }: Pick<ColdCacheReport, 'names'>, template: string): string {
  return names.get(template) ?? template;
}

export const daysOf = ({ from, to }: Period): number => Math.round((to - from) / DAY_MS);
