/** Patience: how many of the jobs that wait get a daemon each. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Backlog, daemonsWorth } from '../../../lambda/decision/demand/patience.ts';
import { launchCost } from '../../../lambda/decision/settings/prices.ts';
import { ago, aJob, aPool, MINUTE, SECOND } from '../../support/parts.ts';
import { runs } from '../../support/runs.ts';
import { deliberateOn, doneBy, PREBUILDS_USER } from '../../support/stocked.ts';

const backlog = (given: Partial<Backlog> = {}): Backlog => ({
  jobs: 20,
  tookMs: 2 * MINUTE,
  waitedMs: 0,
  value: 0.1,
  ...given,
});

describe('launchCost', () => {
  // $0.0395 an hour (small-rules.test.ts), from its start until it is gone
  const pool = aPool({ cpu: 1024, memory: 2048 });

  it('includes the time of start and drain', () => {
    expect(launchCost(pool, 120 * SECOND)).toBeCloseTo((0.0395 * 180) / 3600, 9);
  });

  it('adds the configured cost of a launch', () => {
    const setting = { ...pool, dollarsPerLaunch: 0.0135 };
    expect(launchCost(setting, 120 * SECOND) - launchCost(pool, 120 * SECOND)).toBeCloseTo(0.0135, 9);
  });
});

it('gives 4 daemons to 20 jobs of 2 minutes at $0.01 a minute for $0.25 a start: 20 × √(2 × 0.01 / (2 × 0.25))', () => {
  expect(daemonsWorth(backlog({ value: 0.01 }), 0.25)).toBe(4);
});

it('gives each job a daemon if a start costs nothing', () => {
  expect(daemonsWorth(backlog({ value: 0.001 }), 0)).toBe(20);
});

it('gives one daemon to jobs whose waiting is free, until coderd is about to fail them', () => {
  expect(daemonsWorth(backlog({ value: 0 }), 0.01)).toBeLessThan(5);
  expect(daemonsWorth(backlog({ value: 0, tookMs: MINUTE, waitedMs: 0 }), 0.01)).toBe(1);
  expect(daemonsWorth(backlog({ value: 0, waitedMs: 25 * MINUTE }), 0.01)).toBe(20);
});

const backlogs = fc.record({
  jobs: fc.integer({ min: 1, max: 500 }),
  tookMs: fc.constantFrom(undefined, 0, 1, 30 * SECOND, 2 * MINUTE, 60 * MINUTE),
  waitedMs: fc.constantFrom(-MINUTE, 0, 5 * MINUTE, 20 * MINUTE, 10 * 60 * MINUTE),
  value: fc.constantFrom(0, 0.001, 0.1, 1, 1e6),
});

it('gives at least one daemon, and never more than jobs', () => {
  fc.assert(
    fc.property(backlogs, fc.constantFrom(0, 0.001, 0.1, 10), (given, start) => {
      const daemons = daemonsWorth(given, start);
      expect(daemons).toBeGreaterThanOrEqual(1);
      expect(daemons).toBeLessThanOrEqual(given.jobs);
      expect(Number.isInteger(daemons)).toBe(true);
    }),
    runs(1000),
  );
});

it('never gives fewer daemons for costlier waiting, cheaper starts, more jobs or longer waits', () => {
  fc.assert(
    fc.property(backlogs, fc.constantFrom(0.0001, 0.001, 0.1, 10), (given, start) => {
      const daemons = daemonsWorth(given, start);
      expect(daemonsWorth({ ...given, value: 2 * given.value }, start)).toBeGreaterThanOrEqual(daemons);
      expect(daemonsWorth(given, start / 2)).toBeGreaterThanOrEqual(daemons);
      expect(daemonsWorth({ ...given, jobs: 2 * given.jobs }, start)).toBeGreaterThanOrEqual(daemons);
      expect(daemonsWorth({ ...given, waitedMs: given.waitedMs + MINUTE }, start)).toBeGreaterThanOrEqual(
        daemons,
      );
    }),
    runs(1000),
  );
});

describe('patience in the plan', () => {
  const waiting = (count: number, given: object = {}) =>
    Array.from({ length: count }, (_, index) => aJob({ created_at: ago(index * SECOND), ...given }));
  const dear = { config: { dollarsPerLaunch: 0.05, max: 63 } };
  const launchedFor = (given: object): number => {
    const [action] = deliberateOn({ pools: { cpu: dear }, pending: waiting(40, given) }).plan.actions;
    return action?.kind === 'set-desired' ? action.to : 0;
  };

  it('launches one daemon for each person', () => {
    expect(doneBy({ pools: { cpu: {} }, pending: waiting(7) })).toEqual(['cpu 0->7']);
  });

  it('launches fewer daemons for prebuilds, which run one after the other', () => {
    const prebuilds = launchedFor({ initiator_id: PREBUILDS_USER });
    expect(prebuilds).toBeGreaterThan(0);
    expect(prebuilds).toBeLessThan(20);
    expect(launchedFor({})).toBeGreaterThan(prebuilds);
  });

  it('launches more daemons for prebuilds that coderd is about to fail', () => {
    const old = { initiator_id: PREBUILDS_USER, created_at: ago(24 * MINUTE) };
    expect(launchedFor(old)).toBe(40);
  });

  it('counts jobs that wait for their turn as served, and as pending', () => {
    const { plan } = deliberateOn({
      pools: { cpu: dear },
      pending: waiting(40, { initiator_id: PREBUILDS_USER }),
    });
    const jobs = plan.assignment.reduce((sum, row) => sum + row.jobs, 0);
    expect(jobs).toBe(40);
    expect(plan.unserved).toEqual([]);
    expect(plan.pools[0]?.pending).toBe(40);
  });

  it('names no limit for jobs that wait for their turn, and no task that they need', () => {
    const pending = waiting(40, { initiator_id: PREBUILDS_USER });
    const { plan } = deliberateOn({ pools: { cpu: dear }, pending });
    const to = plan.pools[0]?.desired.to ?? 0;
    expect(plan.pools[0]?.why).toEqual([
      { code: 'pending-jobs', jobs: to },
      { code: 'served-by-busy', jobs: 40 - to },
    ]);
    expect(plan.assignment.map(({ served, jobs }) => [served, jobs])).toEqual([
      ['by-launch', to],
      ['by-busy', 40 - to],
    ]);
  });

  it('launches no daemon for a prebuild while a busy daemon is almost done', () => {
    const recent = Array.from({ length: 20 }, (_, index) =>
      aJob({ status: 'succeeded', started_at: ago(9e6 + 60_000), completed_at: ago(9e6 - index) }),
    );
    const pools = { cpu: { busy: [30 * SECOND], config: { warm: 0 } } };
    const prebuild = aJob({ initiator_id: PREBUILDS_USER });
    expect(doneBy({ pools, pending: [prebuild], recent })).toEqual([]);
    expect(doneBy({ pools, pending: [prebuild] })).toEqual(['cpu 1->2']);
    // two prebuilds need a launch, because a daemon that is almost done serves only one
    expect(doneBy({ pools, pending: [prebuild, aJob({ initiator_id: PREBUILDS_USER })], recent })).toEqual([
      'cpu 1->2',
    ]);
  });

  it('launches a daemon for a person while the only busy daemon has just begun a long build', () => {
    const recent = Array.from({ length: 20 }, () =>
      aJob({ status: 'succeeded', started_at: ago(9e6), completed_at: ago(9e6 - 20 * MINUTE) }),
    );
    expect(
      doneBy({ pools: { cpu: { busy: [10 * SECOND], config: { warm: 0 } } }, pending: [aJob()], recent }),
    ).toEqual(['cpu 1->2']);
  });
});
