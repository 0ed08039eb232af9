/**
 * What empty caches cost, from the init times of sampled builds. In each group, all builds count
 * with the mean time of the sampled ones, less the mean of the warm ones. So a group needs no guess
 * about whether its caches were empty: if they were not, its builds take no longer.
 */
import { by, compare } from '../../lambda/decision/model/collections.ts';
import type { Group, GroupedBuild } from './build-groups.ts';
import { type Estimate, estimateSum } from './interval.ts';
import { type Basis, COLDER, type Groups, isEnough, isTimed, type MonthEstimate, monthOf } from './month.ts';

export type GroupEstimate = {
  readonly group: Group;
  readonly builds: number;
  /** Seconds of the inits that were read. */
  readonly inits: readonly number[];
  /** Seconds longer than the warm builds. Undefined for these, and with too few timings. */
  readonly longer: Estimate | undefined;
};

export type TemplateEstimate = {
  readonly template: string;
  readonly builds: readonly GroupedBuild[];
  /** Those with builds. */
  readonly groups: readonly GroupEstimate[];
  /** `too-few`: there are no figures. `none`: no difference was found. */
  readonly verdict: 'cost' | 'none' | 'too-few';
  readonly month: MonthEstimate | undefined;
};

export type ColdCacheEstimate = {
  /** The most expensive first. */
  readonly templates: readonly TemplateEstimate[];
  /** Of the templates with figures. Undefined if there is none. */
  readonly month: MonthEstimate | undefined;
};

/** `inits`: seconds by build id. */
export function estimateColdCache(
  builds: readonly GroupedBuild[],
  inits: ReadonlyMap<string, number>,
  basis: Basis,
): ColdCacheEstimate {
  const measured = [...Map.groupBy(builds, ({ template }) => template)].map(([template, its]) => ({
    template,
    builds: its,
    groups: measure(its, inits),
  }));
  const counted = measured.map(({ groups }) => groups).filter(isCounted);
  const templates = measured.map((each) => templateEstimate(each, basis));
  return {
    templates: templates.toSorted((a, b) => dollarsIn(b) - dollarsIn(a) || compare(a.template, b.template)),
    month: counted.length === 0 ? undefined : monthOf(counted, basis),
  };
}

const dollarsIn = ({ month }: TemplateEstimate): number => month?.dollars.value ?? Number.NEGATIVE_INFINITY;

function measure(builds: readonly GroupedBuild[], inits: ReadonlyMap<string, number>): Groups {
  const groups = [...Map.groupBy(builds, ({ group }) => group)];
  return new Map(
    groups.map(([group, its]) => [
      group,
      { builds: its, inits: its.flatMap(({ id }) => inits.get(id) ?? []) },
    ]),
  );
}

const isCounted = (groups: Groups): boolean => isEnough((group) => groups.get(group)?.inits.length ?? 0);

function templateEstimate(
  { template, builds, groups }: Pick<TemplateEstimate, 'template' | 'builds'> & { readonly groups: Groups },
  basis: Basis,
): TemplateEstimate {
  const found = [...COLDER, 'warm' as const].flatMap((group) => groupEstimate(group, groups) ?? []);
  const month = isCounted(groups) ? monthOf([groups], basis) : undefined;
  const verdict = month === undefined ? 'too-few' : month.seconds.low > 0 ? 'cost' : 'none';
  return { template, builds, groups: found, verdict, month };
}

function groupEstimate(group: Group, groups: Groups): GroupEstimate | undefined {
  const its = groups.get(group);
  if (its === undefined) return undefined;
  const warm = groups.get('warm');
  const isComparable = group !== 'warm' && isTimed(its) && isTimed(warm);
  const longer = isComparable ? difference(its.inits, warm.inits) : undefined;
  return { group, builds: its.builds.length, inits: its.inits.toSorted(by((each) => each)), longer };
}

const difference = (values: readonly number[], from: readonly number[]): Estimate =>
  estimateSum([
    { values, weight: 1 },
    { values: from, weight: -1 },
  ]);
