/** A made-up backtest of a week with two pools and four policies. Nothing in it was simulated. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { BASELINES } from '../../../what-if/policies/index.ts';
import type {
  Backtest,
  DesiredCountChange,
  Figures,
  PolicyRun,
  PoolSeries,
  WaitFigures,
} from '../../../what-if/replay/result.ts';
import { Random } from '../../../world/base/random.ts';

const FROM = Date.parse('2026-03-01T23:00:00Z') as EpochMs;
const STEP_S = 720;
const STEPS = (7 * 86_400) / STEP_S;

const pool = (name: string, max: number, dollarsPerTaskHour: number, size: number) => ({
  ...{ name, organization: 'default', tags: { size: name }, min: 0, max, dollarsPerTaskHour, size },
});
const POOLS = [pool('default', 180, 0.1975, 46), pool('large', 40, 0.395, 9)];

/** Tasks for each busy one, seconds that people wait, killed jobs. */
const RULES = [
  { policy: 'autoscaler', title: 'autoscaler', tasks: 1.3, waitS: 12, killed: 0 },
  { policy: 'static', title: 'static fleet of 180', tasks: 6, waitS: 0.4, killed: 0 },
  { policy: 'from-zero', title: 'from zero', tasks: 1.1, waitS: 14, killed: 214 },
  { policy: 'agent-scaler', title: 'Buildkite agent scaler', tasks: 1.4, waitS: 18, killed: 0 },
];
type Rule = (typeof RULES)[number];

/** The same seed gives the same backtest. */
export function plausibleBacktest(seed: number): Backtest {
  const random = new Random(seed);
  const runs = RULES.map((rule) => runOf(rule, random));
  return {
    version: 1,
    trace: {
      ...{ name: '3k-users', from: FROM, to: (FROM + 7 * 86_400_000) as EpochMs, timezone: 'Europe/Berlin' },
      ...{ jobs: 24_812, kinds: { user: 17_000, autostart: 7_812 }, unfit: 0, skipped: 3 },
    },
    seed,
    settings: { valueOfMinute: 1.1, region: 'eu-central-1', pricesOf: '2026-11-02', startSeconds: [22, 47] },
    pools: POOLS.map(({ size: _size, ...each }) => each),
    stepS: STEP_S,
    runs,
    prices: [0.05, 0.2, 1.1, 2].map((price) => ({
      ...{ price, isConfigured: price === 1.1 },
      ...atPrice(runs[0], price),
    })),
  };
}

/** With a higher price, tasks cost more and people wait less. */
function atPrice(ours: PolicyRun | undefined, price: number): Pick<PolicyRun, 'figures' | 'estimates'> {
  if (ours === undefined) throw new Error('the fixture has no run');
  const { dollars, waitOfPeople: wait } = ours.figures;
  const [meanS, p95S] = [wait.meanS / (price / 1.1) ** 0.4, wait.p95S / (price / 1.1) ** 0.3];
  const tasks = dollars.tasks * (price / 1.1) ** 0.2;
  return {
    figures: { ...ours.figures, dollars: { ...dollars, tasks }, waitOfPeople: { ...wait, meanS, p95S } },
    estimates: { ...ours.estimates, meanWaitS: aboutOf(meanS), p95WaitS: aboutOf(p95S) },
  };
}

function runOf(rule: Rule, random: Random): PolicyRun {
  const { policy, title } = rule;
  const source = BASELINES.find(({ id }) => id === policy)?.source;
  const pools = POOLS.map((each) => seriesOf(each, rule, random));
  const figures = figuresOf(rule, pools);
  return {
    ...{ policy, title, settings: { idleS: 60 }, isTuned: policy !== 'autoscaler', figures, pools },
    ...(source === undefined ? {} : { source }),
    estimates: {
      dollarsPerMonth: aboutOf((figures.dollars.tasks * 730) / 168),
      meanWaitS: aboutOf(figures.waitOfPeople.meanS),
      p95WaitS: aboutOf(figures.waitOfPeople.p95S),
    },
    ...(policy === 'autoscaler' ? { peopleWait: PEOPLE_WAIT } : {}),
  };
}

/** Milliseconds, as if a few thousand jobs had waited for a task. */
const PEOPLE_WAIT = {
  ...{ jobs: 17_368, missed: 12 },
  parts: { notNoticed: 14_102_000, provisioning: 12_940_000, imagePull: 58_300_000, queued: 9_641_000 },
};

const aboutOf = (value: number) => ({ value, range: [value * 0.6, value * 1.5] as const });

/** Working days with a peak at 9:00. */
function seriesOf({ name, size }: (typeof POOLS)[number], { tasks }: Rule, random: Random): PoolSeries {
  const busy = Array.from({ length: STEPS }, (_, step) => {
    const hour = (step * STEP_S) / 3600;
    const peak = Math.exp(-(((hour % 24) - 9) ** 2)) + 0.3 * Math.exp(-(((hour % 24) - 14) ** 2) / 9);
    return Math.round(size * (hour > 120 ? 0.06 : 1) * (peak + 0.02) * random.between(0.75, 1.25));
  });
  const none = busy.map(() => 0);
  const total = busy.map((each) => Math.ceil(each * tasks));
  const changes = total.flatMap((to, step) => changeAt(step, total[step - 1] ?? 0, to));
  const idle = total.map((each, step) => each - (busy[step] ?? 0));
  return { pool: name, queue: busy, busy, idle, starting: none, leaving: none, changes };
}

function changeAt(step: number, from: number, to: number): readonly DesiredCountChange[] {
  const why = to > from ? [`${to - from} jobs wait`, 'autostarts are due'] : ['tasks have left'];
  return to === from ? [] : [{ at: (FROM + step * STEP_S * 1000) as EpochMs, from, to, why }];
}

function figuresOf(rule: Rule, pools: readonly PoolSeries[]): Figures {
  const busyHours =
    (sum(
      pools.flatMap(({ busy }) => busy),
      (each) => each,
    ) *
      STEP_S) /
    3600;
  const [hours, tasks] = [busyHours * rule.tasks, busyHours * rule.tasks * 0.2];
  const wait = waitOf(rule, 24_812);
  const [waiting, failures] = [(rule.waitS / 60) * 1.1 * 17_368, rule.killed * 66];
  return {
    jobs: { submitted: 24_812, succeeded: 24_812 - rule.killed, reaped: 0, killed: rule.killed, unserved: 0 },
    ...{ wait, waitOfPeople: waitOf(rule, 17_368) },
    waitByPool: { default: waitOf(rule, 20_000), large: waitOf(rule, 4_812) },
    waitOfPeopleByGroup: {},
    waitByGroup: { 'default size=large': waitOf(rule, 3_204) },
    waitByKind: { user: waitOf(rule, 10_917), autostart: waitOf(rule, 6_451) },
    executor: { due: 11_943, delayed: 7, tooLate: 0, longestStopDelayS: 0 },
    tasks: { hours, busyHours, peak: 97, launches: 1_204, idleLaunches: 31, byPool: {} },
    peaks: { all: 97, byPool: { default: 70, large: 20 } },
    dollars: { tasks, waiting, failures, total: tasks + waiting + failures },
  };
}

const waitOf = ({ waitS }: Rule, jobs: number): WaitFigures => ({
  ...{ jobs, meanS: waitS, p50S: 0, p95S: 4 * waitS, p99S: 6 * waitS, maxS: 9 * waitS },
  over60s: waitS / 300,
});
