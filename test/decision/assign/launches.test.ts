/**
 * The launches that a plan promises in random states: the count makes them, and where it does not, the
 * plan says why. fast-check prints the seed of a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Deliberation, deliberate } from '../../../lambda/decision/decide.ts';
import { type PoolName, poolOfPart } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { LIMITS, type Reason } from '../../../lambda/decision/model/plan.ts';
import type { Job, OrganizationReadings, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { covers } from '../../../lambda/decision/model/tags.ts';
import { priceOf } from '../../../lambda/decision/settings/prices.ts';
import { aJob, MINUTE, reading } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { deliberateOn, doneBy } from '../../support/stocked.ts';
import { deployments } from '../../support/ugly/deployments.ts';
import type { Ugly } from '../../support/ugly/ugly.ts';

type Decision = Deliberation['pools'][number];
type Row = Deliberation['assignment']['assigned'][number];

const launchedIn = ({ assignment }: Deliberation, pool: string | null): number =>
  sum(assignment.assigned, ({ offer, jobs }) =>
    offer.served === 'by-launch' && offer.pool === pool ? jobs : 0,
  );

/** How many tasks ECS starts for the count. */
const startsOf = ({ need: { capacity }, to }: Decision): number =>
  to + capacity.uncounted - capacity.total - capacity.leaving - capacity.left;

/** The reasons why a pool launches less than it wants: the limits, except two that others come with. */
const HOLDS: ReadonlySet<Reason['code']> = new Set<Reason['code']>([
  ...LIMITS.filter((code) => code !== 'starts-throttled' && code !== 'license-missing'),
  ...(['server-too-old', 'left-to-next-look', 'starts-unread'] as const),
]);

/** Whether nothing keeps a pool from one more launch. */
function hasRoom(decision: Decision, all: Deliberation, { limits }: Config): boolean {
  const { need, doubts, mode, to } = decision;
  const { view, capacity } = need;
  const { service, share, pool } = view;
  if (service === undefined || mode !== 'sized' || doubts.includes('server-too-old')) return false;
  const isFailing = capacity.isHeldBack || capacity.few < Number.POSITIVE_INFINITY;
  if (need.unreadRoom < Number.POSITIVE_INFINITY) return false;
  if (isFailing || capacity.vacant > 0 || share?.isLaunching === false || pool.retiring) return false;
  const cost = sum(all.pools, (each) => tasksAfter(each) * priceOf(each.need.view.pool));
  const tasks = sum(all.pools, tasksAfter);
  const ofPool = Math.max(capacity.total, to + capacity.uncounted - capacity.leaving - capacity.left);
  return (
    ofPool < pool.max &&
    tasks < limits.maxTasks &&
    cost + priceOf(pool) <= (limits.dollarsPerHour ?? Number.POSITIVE_INFINITY) * 1e6
  );
}

const tasksAfter = ({ need: { view, capacity }, to }: Decision): number =>
  Math.max(to + capacity.uncounted, view.tasks.length + view.unseen);

const fits = ({ need: { view } }: Decision, { group }: Row): boolean =>
  view.organization?.id === group.organizationId && covers(view.tags, group.tags);

type State = Ugly & { readonly decided: Deliberation };

const RULES: Readonly<Record<string, (state: State) => void>> = {
  'has a raised count behind each launch': ({ decided }) => {
    for (const decision of decided.pools) {
      const { need, to, later } = decision;
      const launches = launchedIn(decided, need.view.pool.name);
      if (launches === 0 || later !== undefined) continue;
      expect(startsOf(decision)).toBeGreaterThanOrEqual(launches);
      if (need.capacity.uncounted === 0) expect(to).toBeGreaterThan(need.view.service?.desiredCount ?? 0);
    }
  },
  'lets no job wait while a pool that fits has room': ({ decided, config }) => {
    for (const row of decided.assignment.assigned) {
      if (row.offer.served !== 'when-there-is-room' || row.group.for === 'prebuilds') continue;
      const open = decided.pools.filter((pool) => fits(pool, row) && hasRoom(pool, decided, config));
      expect(open.map(({ need }) => need.view.pool.name)).toEqual([]);
    }
  },
  'names in the pool why a job waits for room': ({ decided, snapshot }) => {
    for (const { pool, served } of decided.plan.assignment) {
      if (served !== 'when-there-is-room') continue;
      const why = decided.plan.pools.find(({ name }) => name === pool)?.why ?? [];
      const codes = why.map(({ code }) => code);
      const isRead = snapshot.ecs.services.status === 'ok';
      const holds = codes.filter((code) => HOLDS.has(code) || (!isRead && code === 'holding-for-doubt'));
      expect(holds, `${pool}: ${codes}`).not.toEqual([]);
    }
  },
  'names failing starts or placement in a pool that tries one task at a time': ({ decided }) => {
    for (const { need, mode } of decided.pools) {
      const { view, capacity, jobs } = need;
      const isFull = capacity.total >= view.pool.max;
      if (!capacity.isHeldBack || mode !== 'sized' || isFull || jobs['when-there-is-room'] === 0) continue;
      const { why } = decided.plan.pools.find(({ name }) => name === poolOfPart(view.pool.name)) ?? {};
      const codes = why?.map(({ code }) => code) ?? [];
      expect(codes.some((code) => code === 'starts-failing' || code === 'placement-failing')).toBe(true);
    }
  },
  'gives each pool a reason': ({ decided }) => {
    for (const { why } of decided.plan.pools) expect(why).not.toEqual([]);
  },
  'raises no pool with its parts above max, beside as many that have just left': ({ decided }) => {
    for (const [pool, parts] of Map.groupBy(decided.pools, ({ need }) => poolOfPart(need.view.pool.name))) {
      const max = parts[0]?.need.view.share?.max ?? parts[0]?.need.view.pool.max ?? 0;
      const before = sum(parts, ({ need: { view } }) =>
        Math.max(view.service?.desiredCount ?? 0, view.tasks.length + view.unseen),
      );
      const leaving = sum(parts, ({ need: { capacity } }) => capacity.leaving + capacity.left);
      const justLeft = sum(parts, ({ need: { capacity } }) => capacity.justLeft);
      const most = max + Math.min(max, justLeft) + leaving;
      // ECS may not count tasks of an earlier deployment: their places are not launches of this look
      const after = sum(parts, ({ need: { view }, to }) => Math.max(to, view.tasks.length + view.unseen));
      expect(after, `${pool} of max ${max}`).toBeLessThanOrEqual(Math.max(before, most));
    }
  },
};

it('makes each launch, and says why where it makes none, in random states', () => {
  fc.assert(
    fc.property(deployments, (ugly) => {
      const state = { ...ugly, decided: deliberate(ugly.snapshot, ugly.config) };
      for (const [rule, check] of Object.entries(RULES))
        try {
          check(state);
        } catch (cause) {
          throw new Error(`${rule}: ${cause}`, { cause });
        }
    }),
    runs(4000),
  );
});

/** The same, with a greater `max` in one pool. */
const raised = (config: Config, name: PoolName | undefined): Config => ({
  ...config,
  pools: config.pools.map((pool) => (pool.name === name ? { ...pool, max: pool.max + 3 } : pool)),
});

/** Jobs for which a daemon is there, starts, or is launched by a count. */
function jobsServedBy(all: Deliberation): number {
  const launched = sum(all.pools, (each) =>
    Math.min(launchedIn(all, each.need.view.pool.name), startsOf(each)),
  );
  return (
    sum(all.assignment.assigned, ({ offer, jobs }) =>
      ['by-free', 'by-starting'].includes(offer.served) ? jobs : 0,
    ) + launched
  );
}

it('serves as many jobs when max of a pool is higher, without limits over all pools', () => {
  fc.assert(
    fc.property(deployments, fc.nat(3), ({ snapshot, config: given }, index) => {
      const config = { ...given, limits: { maxTasks: 1_000 } };
      const { name } = config.pools[index % config.pools.length] ?? {};
      const served = jobsServedBy(deliberate(snapshot, raised(config, name)));
      expect(served).toBeGreaterThanOrEqual(jobsServedBy(deliberate(snapshot, config)));
    }),
    runs(2000),
  );
});

/** A pool whose only task never had a daemon. */
const vacantIn =
  (pool: string, doubts: Doubtful) =>
  ({ coder, ecs, ...rest }: Snapshot): Snapshot => {
    const arns = ecs.tasks.items.flatMap(({ group, taskArn }) =>
      group === `service:Stack-${pool}` ? [taskArn] : [],
    );
    const protections = ecs.protections.items.map((item) =>
      arns.includes(item.taskArn) ? { taskArn: item.taskArn, protectionEnabled: false } : item,
    );
    const organizations = coder.organizations.map(({ daemons, ...organization }) => ({
      ...organization,
      ...doubts,
      daemons: { ...daemons, items: daemons.items.filter(({ name }) => !name.startsWith(`${pool}-`)) },
    }));
    return {
      ...rest,
      coder: { ...coder, organizations },
      ecs: { ...ecs, protections: { ...ecs.protections, items: protections } },
    };
  };

type Doubtful = Partial<OrganizationReadings>;
const TAGS = { a: '1' };
const NO_DOUBT: Doubtful = {};
const DOUBT: Doubtful = { previousJobs: reading<Job>([], 'truncated') };
const cheap = (max: number) => ({ idle: [MINUTE], config: { max, tags: TAGS, cpu: 256, memory: 512 } });
const dear = { config: { tags: { ...TAGS, b: '1' }, cpu: 1024, memory: 2048 } };

it.each([
  {
    scenario: 'it gives up its task first',
    ...{ max: 3, doubt: NO_DOUBT, dollarsPerHour: undefined },
    expected: ['dear 0->2', 'cheap 1->0'],
  },
  {
    scenario: 'it may not give up its task and has room for one',
    ...{ max: 2, doubt: DOUBT, dollarsPerHour: undefined },
    expected: ['cheap 1->2', 'dear 0->1'],
  },
  {
    scenario: 'it may not give up its task and has room for both',
    ...{ max: 3, doubt: DOUBT, dollarsPerHour: undefined },
    expected: ['cheap 1->3'],
  },
  {
    scenario: 'its launches would take the budget',
    ...{ max: 3, doubt: NO_DOUBT, dollarsPerHour: 0.06 },
    expected: ['dear 0->1', 'cheap 1->0'],
  },
])('launches in another pool what a pool with a vacant task can not: $scenario', (row) => {
  const { max, doubt, dollarsPerHour, expected } = row;
  const limits = { maxTasks: 100, ...(dollarsPerHour === undefined ? {} : { dollarsPerHour }) };
  const pending = [aJob({ tags: TAGS }), aJob({ tags: TAGS })];
  const change = vacantIn('cheap', doubt);
  expect(doneBy({ pools: { cheap: cheap(max), dear }, pending, limits, change })).toEqual(expected);
});

it('says that launches wait for a vacant task', () => {
  const change = vacantIn('cheap', NO_DOUBT);
  const { plan } = deliberateOn({ pools: { cheap: cheap(3) }, pending: [aJob({ tags: TAGS })], change });
  expect(plan.pools[0]?.why).toContainEqual({ code: 'waiting-for-vacant', tasks: 1 });
});
