import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import type { BreakEven, Figures } from '../../what-if/replay/result.ts';
import type { Run } from '../../what-if/replay/run.ts';
import { breakEvenText } from '../../what-if/report/parts/break-even.ts';
import { findBreakEven } from '../../what-if/search/break-even.ts';
import { fewerBuilds } from '../../what-if/search/fewer-builds.ts';
import type { Order } from '../../what-if/search/worker-pool.ts';
import { aDeployment, aTrace, aTraceJob, atSecond, NINE, runBaseline } from './support.ts';

const DAYS = 10;
/** 640 workspaces with a start and a stop each: 128 builds a day. */
const JOBS = Array.from({ length: 640 }, (_, at) => [
  aTraceJob({ at: atSecond(at * 1000), workspace: `w${at}` }),
  aTraceJob({ at: atSecond(at * 1000 + 500), workspace: `w${at}`, transition: 'stop' }),
]).flat();
const TRACE = aTrace({ to: (NINE + DAYS * DAY_MS) as typeof NINE, jobs: JOBS });
const EMPTY = await runBaseline('static');

/** Dollars of the period, from the builds a day. One daemon costs 10 before anybody waits. */
type Costs = {
  readonly autoscaler: (builds: number) => number;
  readonly waitForOne: (builds: number) => number;
};

/** A backtest whose replays cost what the test says. The autoscaler itself costs nothing. */
async function foundWith({ autoscaler, waitForOne }: Costs, pools = [{}]) {
  const orders: Order[] = [];
  const runOf = ({ driver, trace }: Pick<Order, 'driver' | 'trace'>): Run => {
    const builds = trace.jobs.length / DAYS;
    const isOne = 'settings' in driver;
    const [tasks, waiting] = isOne ? [10, waitForOne(builds)] : [0, autoscaler(builds)];
    const dollars: Figures['dollars'] = { tasks, waiting, failures: 0, total: tasks + waiting };
    return { ...EMPTY, figures: { ...EMPTY.figures, dollars } };
  };
  const breakEven = await findBreakEven({
    ...{ trace: TRACE, config: aDeployment(pools), against: [], seed: 1, skipped: 0, valueOfMinute: 1 },
    ...{ region: 'us-east-1', ownDollarsOf: () => 0 },
    ours: runOf({ driver: { policy: 'autoscaler' }, trace: TRACE }),
    workerPool: {
      run: async (order) => {
        orders.push(order);
        return runOf(order);
      },
      close: async () => {},
    },
  });
  const played = orders.filter(({ driver }) => !('settings' in driver)).map(({ trace }) => trace.jobs.length);
  return { breakEven, played, orders };
}

const months = (dollars: number): number => (dollars * 30.4375) / DAYS;

describe('the break-even', () => {
  it('lies between the largest part where one daemon costs less and the next larger one', async () => {
    const { breakEven } = await foundWith({
      autoscaler: (builds) => 12 + builds / 100,
      waitForOne: (builds) => builds / 10,
    });
    const [below, above] = breakEven.volumes.slice(-2).reverse();
    // 10 + n / 10 = 12 + n / 100, at 22 builds
    expect(below?.buildsPerDay).toBeLessThan(22);
    expect(above?.buildsPerDay).toBeGreaterThan(22);
    expect(below?.oneDaemon).toBeLessThan(below?.autoscaler ?? 0);
    expect(breakEvenText(breakEven)).toMatch(
      /^Break-even: between [\d.]+ and [\d.]+ builds a day\. With fewer, one daemon around the clock is cheaper: with [\d.]+ of yours a day it costs \$[\d.]+ a month and the autoscaler \$[\d.]+, waiting included\.$/,
    );
  });

  it('lies above the builds of a trace where one daemon costs less, and nothing is replayed again', async () => {
    const { breakEven, played } = await foundWith({ autoscaler: () => 14, waitForOne: () => 1 });
    expect(played).toEqual([]);
    expect(breakEven.volumes).toHaveLength(1);
    expect(breakEvenText(breakEven)).toMatch(
      /^Break-even: more than your 128 builds a day\. So far one daemon around the clock is cheaper: it costs \$33\.\d\d a month and the autoscaler \$42\.\d\d, waiting included\.$/,
    );
  });

  it('does not exist where the autoscaler costs less than one daemon for which nobody waits', async () => {
    const { breakEven, played } = await foundWith({ autoscaler: () => 9, waitForOne: () => 0 });
    expect(played).toEqual([]);
    expect(breakEvenText(breakEven)).toMatch(
      /^Break-even: none\. With your builds or fewer, one daemon around the clock is never cheaper: it costs \$30\.\d\d a month before anybody waits\. With your 128 builds a day the autoscaler costs \$27\.\d\d, waiting included, and with fewer no more\.$/,
    );
  });

  it('replays ever fewer builds until the autoscaler costs less than one idle daemon', async () => {
    const { breakEven, played } = await foundWith({
      autoscaler: (builds) => 4 + builds / 10,
      waitForOne: (builds) => builds / 16,
    });
    // 4 + n / 10 = 10 at 60 builds
    expect(breakEven.volumes.at(-1)?.buildsPerDay).toBeLessThan(60);
    expect(breakEven.volumes.at(-2)?.buildsPerDay).toBeGreaterThanOrEqual(60);
    expect(breakEvenText(breakEven)).toMatch(/^Break-even: none\. .* With [\d.]+ builds a day of yours /);
    expect(played.every((jobs) => jobs < JOBS.length)).toBe(true);
  });

  it('does not replay the autoscaler where one daemon costs more than it does with all builds', async () => {
    const { breakEven, played } = await foundWith({
      autoscaler: () => 15,
      waitForOne: (builds) => builds / 4,
    });
    // 10 + n / 4 = 15 at 20 builds
    expect(played).toHaveLength(1);
    expect(played[0]).toBeLessThan(20 * DAYS);
    const [, ...parts] = breakEven.volumes;
    expect(parts.slice(0, -1).map(({ autoscaler }) => autoscaler)).toEqual(
      parts.slice(0, -1).map(() => undefined),
    );
  });

  it('says so where even one build a day decides nothing', async () => {
    const { breakEven } = await foundWith({ autoscaler: () => 50, waitForOne: () => 60 });
    expect(breakEven.volumes.at(-1)?.buildsPerDay).toBeGreaterThanOrEqual(1);
    expect(breakEvenText(breakEven)).toMatch(
      /^Break-even: none down to [\d.]+ builds a day, the fewest that were replayed: one daemon around the clock costs more\.$/,
    );
  });

  it('counts the autoscaler itself and gives dollars of a month', async () => {
    const { breakEven } = await foundWith({ autoscaler: () => 9, waitForOne: () => 0 });
    expect(breakEven.volumes[0]?.autoscaler).toBeCloseTo(months(9), 0);
    expect(breakEven.volumes[0]?.oneDaemonTasks).toBeCloseTo(months(10), 0);
  });

  it('has a daemon in each pool', async () => {
    const pools = [{}, { name: 'large', tags: { size: 'large' } }];
    const { breakEven, orders } = await foundWith({ autoscaler: () => 9, waitForOne: () => 0 }, pools);
    expect(breakEvenText(breakEven)).toContain(' a daemon in each of the 2 pools around the clock ');
    expect(orders.map(({ driver }) => driver)).toEqual([{ policy: 'static', settings: { share: 0 } }]);
  });

  it('says nothing of a configuration without pools', () => {
    const nothing: BreakEven = {
      daemons: 0,
      volumes: [{ buildsPerDay: 1, autoscaler: 1, oneDaemon: 0, oneDaemonTasks: 0 }],
    };
    expect(breakEvenText(nothing)).toBeUndefined();
  });
});

describe('fewer builds', () => {
  const partOf = fewerBuilds({ ...TRACE, past: JOBS.slice(0, 10) }, 1);

  it('keep about the share of the workspaces, each with all its jobs', () => {
    const { jobs } = partOf(0.25);
    const byWorkspace = Map.groupBy(jobs, ({ workspace }) => workspace);
    expect([...byWorkspace.values()].every(({ length }) => length === 2)).toBe(true);
    expect(byWorkspace.size).toBeGreaterThan(640 * 0.2);
    expect(byWorkspace.size).toBeLessThan(640 * 0.3);
  });

  it('are a part of those of a larger share, in past builds too, and all of them for a share of 1', () => {
    const [small, large] = [partOf(0.25), partOf(0.5)];
    expect(small.jobs.filter((job) => !large.jobs.includes(job))).toEqual([]);
    const kept = new Set(small.jobs.map(({ workspace }) => workspace));
    expect(small.past?.filter(({ workspace }) => !kept.has(workspace))).toEqual([]);
    expect(partOf(1).jobs).toEqual(JOBS);
  });

  it('choose jobs without a workspace one by one', () => {
    const jobs = Array.from({ length: 400 }, (_, at) => aTraceJob({ at: atSecond(at) }));
    const { length } = fewerBuilds(aTrace({ jobs }), 2)(0.5).jobs;
    expect(length).toBeGreaterThan(150);
    expect(length).toBeLessThan(250);
  });
});
