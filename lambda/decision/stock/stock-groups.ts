/** The stock as demand: free daemons for every set of pools that can run the same builds. */
import { pendingByTags, type StockGroup } from '../demand/demand.ts';
import type { LeftOf } from '../demand/peers.ts';
import { deriveRecord, servedUnforeseen } from '../demand/record.ts';
import type { PoolForecasts } from '../forecast/pool-forecast.ts';
import { type OrganizationId, type PoolName, poolOfPart } from '../model/brands.ts';
import { by, groupsBy, sum, unique } from '../model/collections.ts';
import type { LearnedStock, OrganizationReadings, Snapshot, StockChoice } from '../model/snapshot.ts';
import { covers, type TagSet, tagKey } from '../model/tags.ts';
import { priceOf } from '../settings/prices.ts';
import type { PoolView } from '../supply/supply.ts';
import { isIdle, type TaskView } from '../supply/task-state.ts';
import type { ReplayedPools } from './replay.ts';
import { priceReplay, UNKNOWN_RULE } from './replay.ts';

/** A set of pools that can run the same builds, and what a replay of these builds needs. */
export type StockSet = {
  readonly organizationId: OrganizationId;
  /** In order. */
  readonly pools: readonly PoolName[];
  readonly tagSets: readonly TagSet[];
  readonly replayed: ReplayedPools;
  /** Whether the start time was seen, not configured. */
  readonly isStartSeen: boolean;
};

type PoolSet = StockSet & {
  readonly organization: OrganizationReadings;
  /** The same pools. */
  readonly keeping: readonly PoolView[];
};

/**
 * By tag set of earlier builds, without those that belong to a peer. A number for `warm` replaces the stock
 * of all who share it.
 */
export function deriveStockSets(
  { poolForecasts }: Pick<PoolForecasts, 'poolForecasts'>,
  snapshot: Snapshot,
  leftOf: LeftOf,
): readonly PoolSet[] {
  return snapshot.coder.organizations.flatMap((organization) => {
    const own = [...poolForecasts].filter(([view]) => view.organization === organization);
    if (!own.some(([view]) => keepsStock(view))) return [];
    const rows = knownTagSets(organization, snapshot).flatMap((tags) => {
      if (leftOf(organization.id, tags, snapshot.takenAt) !== undefined) return [];
      const fitting = own.filter(([view]) => covers(view.tags, tags));
      if (fitting.some(([, { floors }]) => floors.warm > 0)) return [];
      const keeping = fitting.map(([view]) => view).filter(keepsStock);
      const names = [...new Set(keeping.map(({ pool }) => poolOfPart(pool.name)))];
      return keeping.length === 0 ? [] : [{ tags, keeping, names }];
    });
    return groupsBy(rows, ({ names }) => names.join(' ')).map((alike) => {
      const [{ keeping, names }] = alike;
      return {
        ...{ organization, organizationId: organization.id, keeping, pools: names.toSorted() },
        tagSets: alike.map(({ tags }) => tags),
        isStartSeen: keeping.some(({ startTime }) => startTime.from === 'learned'),
        replayed: priceReplay(wholePools(keeping)),
      };
    });
  });
}

/** Each pool once, at the price of its cheapest part and with the limit of all. */
function wholePools(keeping: readonly PoolView[]) {
  const cheapestFirst = keeping.toSorted(by(({ pool }) => priceOf(pool)));
  return unique(cheapestFirst, ({ pool }) => poolOfPart(pool.name)).map(({ pool, startTime, share }) => ({
    pool: { ...pool, max: share?.max ?? pool.max },
    startMs: startTime.p50Ms,
  }));
}

/** The tag sets of all builds that are known, also of those that only the learner remembers. */
function knownTagSets(organization: OrganizationReadings, { stock }: Snapshot): readonly TagSet[] {
  const learned = stock?.tagSets.filter(({ organizationId }) => organizationId === organization.id) ?? [];
  const known = [...deriveRecord(organization).arrivals.values(), ...learned];
  return unique(
    known.map(({ tags }) => tags),
    tagKey,
  );
}

function keepsStock({ pool, service, share }: PoolView): boolean {
  return pool.warm === 'auto' && !pool.retiring && (share?.max ?? pool.max) > 0 && service !== undefined;
}

/** Derives the demand for free daemons of each set, in an order that does not depend on the record. */
export function deriveStock(sets: readonly PoolSet[], snapshot: Snapshot): readonly StockGroup[] {
  const claimed = new Set<TaskView>();
  return sets
    .toSorted(
      by<PoolSet>(
        ({ pools }) => pools.length,
        'organizationId',
        ({ pools }) => pools.join(' '),
      ),
    )
    .flatMap((set) => stockOf(set, snapshot, claimed))
    .filter(({ jobs }) => jobs > 0)
    .toSorted(MOST_VALUABLE_FIRST);
}

/** Under a limit the set gets the room in which the last daemons save most. */
const MOST_VALUABLE_FIRST = by<StockGroup>(
  ({ isSpare }) => Number(isSpare),
  ({ choice }) => -savingOf(choice),
  'organizationId',
  ({ pools }) => [...pools].join(' '),
);

function savingOf(choice: StockChoice | undefined): number {
  const fewer = choice?.others.find(({ free }) => free < choice.rule.free);
  return choice === undefined || fewer === undefined ? 0 : fewer.dollars - choice.tasks - choice.waiting;
}

/** `claimed`: the busy daemons that other sets count among those they keep. A daemon counts once. */
function stockOf(set: PoolSet, snapshot: Snapshot, claimed: Set<TaskView>): readonly StockGroup[] {
  const { stock, takenAt } = snapshot;
  const { organization, organizationId, tagSets, keeping, replayed } = set;
  const choice = choiceOf(set, stock);
  const { free, spareMs, afterBuildMs, countsBusy } = choice?.rule ?? UNKNOWN_RULE;
  const keys = new Set(tagSets.map(tagKey));
  const isOver = afterBuildMs !== null && takenAt - lastBuildAt(organization, keys, stock) > afterBuildMs;
  const all = isOver ? 0 : Math.min(free, replayed.most);
  // what the rule costs was found with these daemons; here one may have died, or never have been launched
  const { stays } = choice ?? {};
  const staying = stays !== undefined && takenAt < stays.until ? Math.min(stays.daemons, replayed.most) : 0;
  const inUse = claimInUse(set, { keys, most: Math.max(countsBusy ? all : 0, staying), claimed });
  const byRule = countsBusy ? Math.max(0, all - inUse) : all;
  const kept = Math.max(byRule, staying - inUse);
  // the rule was learned from unforeseen builds alone: after another job a daemon stays while that costs less
  // than to launch it again
  const isUnforeseen = servedUnforeseen(organization);
  // a task without a price is worth keeping, whatever a launch costs
  const worthMs =
    replayed.taskPrice === 0 ? spareMs : Math.min(spareMs, replayed.startPrice / replayed.taskPrice);
  const isSpare = (task: TaskView): boolean => {
    const { state, daemon, idleSince = takenAt } = task;
    const staysMs = isUnforeseen(daemon) === false ? worthMs : spareMs;
    return state === 'working' && isIdle(task) && takenAt - idleSince < staysMs;
  };
  const idle = sum(keeping, ({ tasks }) => tasks.filter(isSpare).length);
  const wouldHave = kept > byRule ? staying : undefined;
  const pools = new Set(set.pools);
  const group = { for: 'stock', organizationId, tagSets, choice, wouldHave, pools } as const;
  return [
    { ...group, isSpare: false, jobs: kept },
    { ...group, isSpare: true, jobs: idle - kept },
  ];
}

/** The pools whose stock this process has not learned yet. */
export function unlearnedPools(
  pools: readonly PoolView[],
  sets: readonly StockSet[],
  { stock }: Pick<Snapshot, 'stock'>,
): ReadonlySet<PoolName> {
  if (stock === undefined) return new Set(pools.map(({ pool }) => poolOfPart(pool.name)));
  const open = sets.filter((set) => !stock.choices.some((choice) => isOf(choice, set)));
  return new Set(open.flatMap((set) => set.pools));
}

/** What was chosen for a set of pools; undefined: nothing yet. */
export function choiceOf(set: StockSet, stock: Snapshot['stock']): StockChoice | undefined {
  return stock?.choices.find((choice) => isOf(choice, set));
}

function isOf(
  choice: Pick<StockChoice, 'organizationId' | 'pools'>,
  set: Pick<StockSet, 'organizationId' | 'pools'>,
): boolean {
  return choice.organizationId === set.organizationId && choice.pools.join(' ') === set.pools.join(' ');
}

/** The lists of a process that has just started have few past builds. */
function lastBuildAt(
  organization: OrganizationReadings,
  keys: ReadonlySet<string>,
  stock: LearnedStock | undefined,
): number {
  const { arrivals } = deriveRecord(organization);
  const seen = [...keys].map((key) => arrivals.get(key)?.lastAt);
  const learned = stock?.tagSets.filter(
    ({ organizationId, tags }) => organizationId === organization.id && keys.has(tagKey(tags)),
  );
  const times = [...seen, ...(learned ?? []).map((each) => each.lastBuildAt)];
  return Math.max(...times.map((at) => at ?? Number.NEGATIVE_INFINITY));
}

type Claim = {
  /** The tag sets of the builds of the set. */
  readonly keys: ReadonlySet<string>;
  readonly most: number;
  readonly claimed: Set<TaskView>;
};

/** Claims daemons of these pools that are busy, or will be with the jobs of these tag sets that wait. */
function claimInUse({ keeping, organization }: PoolSet, { keys, most, claimed }: Claim): number {
  const pending = pendingByTags(organization);
  const waiting = sum([...keys], (key) => pending.get(key)?.length ?? 0);
  const busy = keeping.flatMap(({ tasks }) => tasks.filter((task) => isBusy(task) && !claimed.has(task)));
  const own = busy.slice(0, Math.max(0, most - waiting));
  for (const task of own) claimed.add(task);
  return Math.min(most, waiting + own.length);
}

const isBusy = ({ state, use }: TaskView): boolean => state === 'working' && use === 'busy';
