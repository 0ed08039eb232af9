/**
 * Compares the assignment with brute force in small cases, and with a linear-programming solver in
 * larger ones.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Constraint, equalTo, lessEq, solve } from 'yalps';
import { type Assignment, assign } from '../../../lambda/decision/assign/assignment.ts';
import type { Offer } from '../../../lambda/decision/assign/offer.ts';
import type { DueGroup, TagGroup } from '../../../lambda/decision/demand/demand.ts';
import type { EpochMs, OrganizationId, PoolName } from '../../../lambda/decision/model/brands.ts';
import type { Served } from '../../../lambda/decision/model/plan.ts';
import { canRun, normalizeTags, type Tags, tagKey } from '../../../lambda/decision/model/tags.ts';
import { runs } from '../../support/runs.ts';

const organizationId = 'org' as OrganizationId;
const RANK: Readonly<Partial<Record<Served, number>>> = { 'by-free': 0, 'by-starting': 1, 'by-launch': 2 };

function group(
  index: number,
  tags: Tags,
  jobs: number,
  audience: 'people' | 'prebuilds' = 'people',
): TagGroup {
  const createdAt = Array.from({ length: jobs }, (_, job) => (1000 * index + job) as EpochMs);
  return {
    organizationId,
    organization: 'org',
    tags: normalizeTags(tags),
    key: `${index} ${tagKey(tags)}`,
    for: audience,
    jobs,
    createdAt,
    atOnce: jobs,
    durationsMs: [],
    tookMs: undefined,
  };
}

function dueGroup(tags: Tags, jobs: number, pools: readonly number[]): DueGroup {
  const names = pools.map((index) => `p${index}` as PoolName);
  return { for: 'due', organizationId, tags: normalizeTags(tags), jobs, pools: new Set(names) };
}

/** Whether jobs of a group may be placed at an offer at all. */
const mayRun = (at: Offer, own: AnyGroup): boolean =>
  canRun(at.tags, own.tags) && (own.for !== 'due' || at.pool === null || own.pools.has(at.pool));

type AnyGroup = TagGroup | DueGroup;

function offer(pool: string, tags: Tags, served: Served, places: number, price: number, due = 0): Offer {
  return {
    organizationId,
    pool: pool as PoolName,
    tags: normalizeTags(tags),
    served,
    places,
    price: served === 'by-launch' || served === 'when-there-is-room' ? price : 0,
    bounds: { due, prebuilds: 99, launchesStock: true, price },
  };
}

/** Launches for floors happen in any case, and their room is already reserved. */
const takesRoom = ({ served, price }: Offer): boolean => served === 'by-launch' && price > 0;

type Case = {
  readonly groups: readonly AnyGroup[];
  readonly offers: readonly Offer[];
  readonly room: number;
};

/**
 * The value of an assignment: served jobs by group in the order of demand, then price, then rank.
 */
type Score = { readonly served: readonly number[]; readonly price: number; readonly rank: number };

function scoreOf({ assigned }: Assignment<AnyGroup>, groups: readonly AnyGroup[]): Score {
  const real = assigned.filter(({ offer: { served } }) => RANK[served] !== undefined);
  const sumOf = (of: (row: (typeof real)[number]) => number): number =>
    real.reduce((total, row) => total + of(row), 0);
  return {
    served: groups.map((own) => sumOf((row) => (row.group === own ? row.jobs : 0))),
    price: sumOf(({ offer: { served, price }, jobs }) => (served === 'by-launch' ? price * jobs : 0)),
    rank: sumOf(({ offer: { served }, jobs }) => (RANK[served] ?? 0) * jobs),
  };
}

/** Tries every assignment of the jobs, whether or not a better one was found first. */
function bruteForce({ groups, offers, room }: Case): Score {
  let best: Score | undefined;
  const left = offers.map(({ places }) => places);
  const dueLeft = offers.map(({ bounds }) => bounds.due);
  const visit = (
    groupIndex: number,
    offerIndex: number,
    jobsLeft: number,
    roomLeft: number,
    so: Score,
  ): void => {
    const own = groups[groupIndex];
    if (own === undefined) {
      if (best === undefined || isBetter(so, best)) best = so;
      return;
    }
    const at = offers[offerIndex];
    if (at === undefined) {
      visit(groupIndex + 1, 0, groups[groupIndex + 1]?.jobs ?? 0, roomLeft, so);
      return;
    }
    const isLaunch = takesRoom(at);
    const isDue = own.for === 'due';
    const most = mayRun(at, own)
      ? Math.min(
          jobsLeft,
          left[offerIndex] ?? 0,
          isLaunch ? roomLeft : jobsLeft,
          isDue ? (dueLeft[offerIndex] ?? 0) : jobsLeft,
        )
      : 0;
    for (let jobs = 0; jobs <= most; jobs++) {
      left[offerIndex] = (left[offerIndex] ?? 0) - jobs;
      if (isDue) dueLeft[offerIndex] = (dueLeft[offerIndex] ?? 0) - jobs;
      visit(groupIndex, offerIndex + 1, jobsLeft - jobs, roomLeft - (isLaunch ? jobs : 0), {
        served: so.served.map((count, index) => (index === groupIndex ? count + jobs : count)),
        price: so.price + (isLaunch ? at.price * jobs : 0),
        rank: so.rank + (RANK[at.served] ?? 0) * jobs,
      });
      left[offerIndex] = (left[offerIndex] ?? 0) + jobs;
      if (isDue) dueLeft[offerIndex] = (dueLeft[offerIndex] ?? 0) + jobs;
    }
  };
  visit(0, 0, groups[0]?.jobs ?? 0, Math.max(0, room), { served: groups.map(() => 0), price: 0, rank: 0 });
  if (best === undefined) throw new Error('nothing tried');
  return best;
}

/** As many jobs as possible; then the earlier groups; then the price; then the rank. */
function isBetter(a: Score, b: Score): boolean {
  const total = ({ served }: Score): number => served.reduce((sum, count) => sum + count, 0);
  const keys = (score: Score): readonly number[] => [
    -total(score),
    ...score.served.map((count) => -count),
    score.price,
    score.rank,
  ];
  const [left, right] = [keys(a), keys(b)];
  const index = left.findIndex((key, at) => key !== right[at]);
  return index >= 0 && (left[index] ?? 0) < (right[index] ?? 0);
}

const someTags = fc.constantFrom<Tags>(
  {},
  { a: '1' },
  { b: '1' },
  { a: '1', b: '1' },
  { a: '1', b: '1', c: '1' },
);
const someServed = fc.constantFrom<Served>('by-free', 'by-starting', 'by-launch', 'by-launch');

function cases(sizes: {
  groups: number;
  jobs: number;
  offers: number;
  places: number;
  room: number;
  /** Groups that are due soon, after the others. */
  due: number;
}): fc.Arbitrary<Case> {
  return fc.record({
    groups: fc
      .array(fc.tuple(someTags, fc.integer({ min: 1, max: sizes.jobs })), {
        minLength: 1,
        maxLength: sizes.groups,
      })
      .map((list) => list.map(([tags, jobs], index) => group(index, tags, jobs)))
      .chain((jobs) =>
        fc
          .array(
            fc
              .tuple(
                someTags,
                fc.integer({ min: 1, max: sizes.jobs }),
                fc.subarray([...Array(sizes.offers).keys()]),
              )
              .map(([tags, count, pools]) => dueGroup(tags, count, pools)),
            { maxLength: sizes.due },
          )
          .map((due): readonly AnyGroup[] => [...jobs, ...due]),
      ),
    offers: fc
      .array(
        fc.tuple(
          someTags,
          someServed,
          fc.integer({ min: 0, max: sizes.places }),
          fc.integer({ min: 0, max: 4 }),
          fc.integer({ min: 0, max: sizes.places }),
        ),
        { maxLength: sizes.offers },
      )
      .map((list) =>
        list.map(([tags, served, places, price, due], index) =>
          offer(`p${index}`, tags, served, places, price, due),
        ),
      ),
    room: fc.integer({ min: -1, max: sizes.room }),
  });
}

it('assigns like brute force on 5,000 small cases', () => {
  fc.assert(
    fc.property(cases({ groups: 3, jobs: 3, offers: 4, places: 2, room: 4, due: 1 }), (small) => {
      expect(scoreOf(assign(small.groups, small.offers, small.room), small.groups)).toEqual(
        bruteForce(small),
      );
    }),
    runs(5000),
  );
});

/** The linear program of a case: a variable for each group and offer that fit. */
function linearProgram({ groups, offers, room }: Case) {
  const constraints: Record<string, Constraint> = { room: lessEq(Math.max(0, room)) };
  for (const [index, { jobs }] of groups.entries()) constraints[`g${index}`] = lessEq(jobs);
  for (const [index, { places, bounds }] of offers.entries()) {
    constraints[`o${index}`] = lessEq(places);
    constraints[`due${index}`] = lessEq(bounds.due);
  }
  const variables: Record<string, Record<string, number>> = {};
  for (const [g, own] of groups.entries())
    for (const [o, at] of offers.entries())
      if (mayRun(at, own)) {
        const isLaunch = takesRoom(at);
        variables[`${g}/${o}`] = {
          [`g${g}`]: 1,
          [`o${o}`]: 1,
          ...(own.for === 'due' ? { [`due${o}`]: 1 } : {}),
          ...(isLaunch ? { room: 1 } : {}),
          served: 1,
          [`first${g}`]: 1,
          cost: (isLaunch ? at.price : 0) * 1000 + (RANK[at.served] ?? 0),
        };
      }
  return { constraints, variables };
}

/** The most jobs of the first `count` groups that can be served. */
function mostServed(large: Case, count: number): number {
  const { constraints, variables } = linearProgram({ ...large, groups: large.groups.slice(0, count) });
  return (
    Math.round(solve({ direction: 'maximize', objective: 'served', constraints, variables }).result) || 0
  );
}

/** The least cost of serving exactly these numbers of jobs of each group. */
function leastCost(large: Case, served: readonly number[]): number {
  const { constraints, variables } = linearProgram(large);
  for (const [index, count] of served.entries()) constraints[`first${index}`] = equalTo(count);
  const solution = solve({ direction: 'minimize', objective: 'cost', constraints, variables });
  return solution.status === 'optimal' ? Math.round(solution.result) : Number.NaN;
}

it('assigns like a linear-programming solver on 200 larger cases', () => {
  fc.assert(
    fc.property(cases({ groups: 20, jobs: 40, offers: 24, places: 30, room: 300, due: 4 }), (large) => {
      const score = scoreOf(assign(large.groups, large.offers, large.room), large.groups);
      const upTo = (count: number): number =>
        score.served.slice(0, count).reduce((sum, jobs) => sum + jobs, 0);
      const size = large.groups.length;
      // the largest service of each prefix is the service in order of priority
      for (const count of new Set([1, Math.ceil(size / 4), Math.ceil(size / 2), size]))
        expect(upTo(count), `jobs of the first ${count} groups`).toBe(mostServed(large, count));
      if (Object.keys(linearProgram(large).variables).length > 0)
        expect(score.price * 1000 + score.rank).toBe(leastCost(large, score.served));
    }),
    runs(200),
  );
});

describe('assign', () => {
  const gpu = { cluster: 'gpu' };
  const gpuEu = { cluster: 'gpu', region: 'eu' };

  it('never gives an offer more jobs than it has places, and assigns no job twice', () => {
    fc.assert(
      fc.property(cases({ groups: 6, jobs: 9, offers: 8, places: 5, room: 12, due: 3 }), (any) => {
        const { assigned } = assign(any.groups, any.offers, any.room);
        const jobsAt = (at: Offer): number =>
          assigned.filter((row) => row.offer === at).reduce((sum, { jobs }) => sum + jobs, 0);
        for (const at of any.offers) expect(jobsAt(at)).toBeLessThanOrEqual(at.places);
        for (const own of any.groups)
          expect(
            assigned.filter((row) => row.group === own).reduce((sum, { jobs }) => sum + jobs, 0),
          ).toBeLessThanOrEqual(own.jobs);
      }),
      runs(1000),
    );
  });

  it('launches in the cheapest pool that leaves room for the other groups', () => {
    const offers = [offer('cheap', gpuEu, 'by-launch', 1, 10), offer('dear', gpu, 'by-launch', 5, 90)];
    const placed = (groups: readonly TagGroup[]) =>
      assign(groups, offers, 10).assigned.map((row) => `${row.offer.pool} ${row.jobs}`);
    expect(placed([group(0, gpu, 1)])).toEqual(['cheap 1']);
    // the younger job can run only in the cheap pool, so the older one leaves it
    expect(placed([group(0, gpu, 1), group(1, gpuEu, 1)])).toEqual(['dear 1', 'cheap 1']);
  });

  it('assigns waiting jobs to the cheapest pool that can run them', () => {
    const offers = [
      offer('dear', gpu, 'when-there-is-room', Number.POSITIVE_INFINITY, 90),
      offer('cheap', gpuEu, 'when-there-is-room', Number.POSITIVE_INFINITY, 10),
      offer('cheap', gpuEu, 'by-launch', 1, 10),
    ];
    const { assigned, unserved } = assign([group(0, gpu, 3), group(1, { cluster: 'tpu' }, 1)], offers, 10);
    expect(assigned.map((row) => [row.offer.pool, row.offer.served, row.jobs])).toEqual([
      ['cheap', 'by-launch', 1],
      ['cheap', 'when-there-is-room', 2],
    ]);
    expect(unserved.map(({ tags }) => tags.cluster)).toEqual(['tpu']);
  });
});
