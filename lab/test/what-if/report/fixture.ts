/** A made-up backtest of a week with three pools and four policies. Nothing in it was simulated. */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { percentile } from '../../../../lambda/decision/model/collections.ts';
import type { Estimate } from '../../../what-if/estimate/estimate.ts';
import {
  type Backtest,
  type DesiredCountChange,
  type Figures,
  type PeopleWait,
  type PolicyRun,
  type PoolSeries,
  WAIT_EDGES_S,
  type WaitFigures,
} from '../../../what-if/replay/result.ts';
import { Random } from '../../../world/base/random.ts';

const FROM = Date.parse('2026-03-01T23:00:00Z') as EpochMs;
const STEP_S = 720;
const STEPS = (7 * 86_400) / STEP_S;
const HOURS_A_STEP = STEP_S / 3600;

const POOLS = [
  {
    name: 'default',
    organization: 'default',
    tags: {},
    min: 0,
    max: 180,
    dollarsPerTaskHour: 0.1975,
    size: 46,
  },
  {
    name: 'large',
    organization: 'default',
    tags: { size: 'large' },
    min: 1,
    max: 40,
    dollarsPerTaskHour: 0.395,
    size: 9,
  },
  {
    name: 'data',
    organization: 'data',
    tags: { team: 'science' },
    min: 0,
    max: 30,
    dollarsPerTaskHour: 0.1975,
    size: 5,
  },
] as const;
type Pool = (typeof POOLS)[number];

type Rule = {
  readonly policy: string;
  readonly title: string;
  readonly source?: { readonly title: string; readonly url: string };
  readonly settings: Readonly<Record<string, string | number>>;
  /** Desired tasks, from the busy tasks, the tasks of the step before, and the pool. */
  readonly wanted: (busy: number, before: number, pool: Pool) => number;
  readonly waitS: readonly [usual: number, cold: number];
  readonly coldShare: number;
  readonly killed: number;
};

const RULES: readonly Rule[] = [
  {
    policy: 'autoscaler',
    title: 'autoscaler',
    settings: { idleTimeout: '15m', warm: 0 },
    wanted: (busy, before) => Math.max(busy, before * 0.82),
    waitS: [1.2, 38],
    coldShare: 0.11,
    killed: 0,
  },
  {
    policy: 'static',
    title: 'static fleet of 180',
    source: {
      title: 'Validated architecture: up to 3,000 users',
      url: 'https://coder.com/docs/admin/infrastructure/validated-architectures/3k-users',
    },
    settings: { default: 120, large: 35, data: 25 },
    wanted: (_busy, _before, pool) => pool.max * 0.66,
    waitS: [0.9, 4],
    coldShare: 0.002,
    killed: 0,
  },
  {
    policy: 'from-zero',
    title: 'from zero',
    settings: { idleS: 60 },
    wanted: (busy, before) => Math.max(busy * 1.1, before * 0.7),
    waitS: [1.4, 52],
    coldShare: 0.21,
    killed: 214,
  },
  {
    policy: 'agent-scaler',
    title: 'Buildkite agent scaler',
    source: { title: 'buildkite-agent-scaler', url: 'https://github.com/buildkite/buildkite-agent-scaler' },
    settings: { idleS: 3600 },
    wanted: (busy, before) => Math.max(busy * 1.05, before * 0.94),
    waitS: [1.6, 61],
    coldShare: 0.14,
    killed: 0,
  },
];

/** Milliseconds, as if a few thousand jobs had waited for a task. */
const PEOPLE_WAIT: PeopleWait = {
  jobs: 17_368,
  missed: 12,
  parts: {
    notNoticed: 14_102_000,
    held: 2_204_000,
    launching: 3_017_000,
    notLaunched: 310_000,
    provisioning: 12_940_000,
    imagePull: 58_300_000,
    containerStart: 5_712_000,
    registration: 7_480_000,
    queued: 9_641_000,
    unknown: 141_000,
  },
};

/** The same seed gives the same backtest. */
export function plausibleBacktest(seed: number): Backtest {
  const random = new Random(seed);
  const busy = POOLS.map((pool) => busyOf(pool, random));
  const runs = RULES.map((rule, at) => runOf(rule, at === 4, busy, random));
  const jobs = runs[0]?.figures.jobs.submitted ?? 0;
  return {
    version: 1,
    trace: {
      name: '3k-users',
      from: FROM,
      to: (FROM + 7 * 86_400_000) as EpochMs,
      timezone: 'Europe/Berlin',
      jobs,
      kinds: {
        user: Math.floor(jobs * 0.44),
        autostart: Math.floor(jobs * 0.26),
        autostop: Math.floor(jobs * 0.22),
        dormancy: 34,
        prebuild: Math.floor(jobs * 0.06),
        import: 120,
      },
      unfit: 0,
      skipped: 3,
    },
    seed,
    settings: { valueOfMinute: 1.1, region: 'eu-central-1', pricesOf: '2026-11-02', startSeconds: [22, 47] },
    pools: POOLS.map(({ size: _size, ...pool }) => pool),
    stepS: STEP_S,
    runs,
    prices: [0.01, 0.05, 0.2, 1.1, 2].map((price) => ({
      ...{ price, isConfigured: price === 1.1 },
      ...atPrice(runs[0], price),
    })),
  };
}

/** With a higher price, tasks cost more and people wait less. */
function atPrice(ours: PolicyRun | undefined, price: number): Pick<PolicyRun, 'figures' | 'estimates'> {
  if (ours === undefined) throw new Error('the fixture has no run');
  const { dollars, waitOfPeople: wait } = ours.figures;
  const [meanS, p95S] = [5 / price ** 0.4, 38 / price ** 0.3];
  const tasks = dollars.tasks * (price / 1.05) ** 0.2;
  return {
    figures: { ...ours.figures, dollars: { ...dollars, tasks }, waitOfPeople: { ...wait, meanS, p95S } },
    estimates: { ...ours.estimates, meanWaitS: aboutOf(meanS), p95WaitS: aboutOf(p95S) },
  };
}

/** Busy tasks: working days with a peak at 9:00 and a lower one at 14:00. */
function busyOf({ size }: Pool, random: Random): readonly number[] {
  return Array.from({ length: STEPS }, (_, step) => {
    const hour = (step * HOURS_A_STEP) % 24;
    const isWeekend = step * HOURS_A_STEP >= 5 * 24;
    const peak = Math.exp(-((hour - 9.1) ** 2) / 0.7) + 0.5 * Math.exp(-((hour - 14) ** 2) / 9);
    return Math.max(
      0,
      Math.round(size * (isWeekend ? 0.06 : 1) * (peak + 0.02) * random.between(0.75, 1.25)),
    );
  });
}

function runOf(
  rule: Rule,
  isTuned: boolean,
  busy: readonly (readonly number[])[],
  random: Random,
): PolicyRun {
  const pools = POOLS.map((pool, at) => poolOf(pool, rule, busy[at] ?? [], random));
  const waits = Array.from({ length: 4000 }, () => waitOf(rule, random)).sort((a, b) => a - b);
  const hours = hoursOf(rule, busy, random);
  const figures = figuresOf(rule, pools, waits, random);
  return {
    policy: rule.policy,
    title: rule.title,
    ...(rule.source === undefined ? {} : { source: rule.source }),
    settings: rule.settings,
    isTuned,
    figures,
    estimates: {
      dollarsPerMonth: aboutOf((figures.dollars.tasks * 730) / 168),
      meanWaitS: aboutOf(figures.waitOfPeople.meanS),
      p95WaitS: aboutOf(figures.waitOfPeople.p95S),
    },
    waitCounts: countsOf(waits),
    hoursOfWeek: hours,
    // an hour earlier than in Berlin
    hoursOfWeekUtc: { jobs: earlier(hours.jobs), meanWaitS: earlier(hours.meanWaitS) },
    pools,
    ...(rule.policy === 'autoscaler' ? { peopleWait: PEOPLE_WAIT } : {}),
  };
}

const aboutOf = (value: number): Estimate => ({ value, range: [value * 0.6, value * 1.5] });

const waitOf = ({ waitS, coldShare }: Rule, random: Random): number =>
  random.next() < coldShare ? waitS[1] * random.between(0.6, 2.2) ** 2 : waitS[0] * random.between(0.1, 1.9);

function poolOf(pool: Pool, rule: Rule, busy: readonly number[], random: Random): PoolSeries {
  const [total, changes]: [number[], DesiredCountChange[]] = [[], []];
  busy.forEach((now, step) => {
    const before = total[step - 1] ?? pool.min;
    const wanted = Math.min(pool.max, Math.max(pool.min, now, Math.round(rule.wanted(now, before, pool))));
    total.push(wanted);
    if (wanted !== before)
      changes.push(changeOf(FROM + step * STEP_S * 1000 + random.whole(0, 299) * 1000, before, wanted));
  });
  const spare = total.map((each, step) => each - (busy[step] ?? 0));
  const grown = total.map((each, step) => Math.max(0, each - (total[step - 1] ?? each)));
  const starting = spare.map((each, step) => Math.min(each, (grown[step] ?? 0) * 0.4));
  const leaving = spare.map((each, step) =>
    Math.min(each - (starting[step] ?? 0), rule.policy === 'static' ? 0 : each * 0.12),
  );
  return {
    pool: pool.name,
    queue: grown.map((each) => (each > 2 ? Math.round(each * random.between(0.2, 1.1)) : 0)),
    busy,
    idle: spare.map((each, step) => each - (starting[step] ?? 0) - (leaving[step] ?? 0)),
    starting,
    leaving,
    changes,
  };
}

const changeOf = (at: number, from: number, to: number): DesiredCountChange => ({
  at: at as EpochMs,
  from,
  to,
  why:
    to > from
      ? [
          `${to - from} jobs wait and no daemon is free for them`,
          ...(to - from > 8 ? ['the autostarts of 09:00 are about to be due'] : []),
        ]
      : [`${from - to} tasks have left after 15 min without a job`],
});

function figuresOf(
  rule: Rule,
  pools: readonly PoolSeries[],
  waits: readonly number[],
  random: Random,
): Figures {
  const hoursBy = pools.map(
    (each) => sum([...each.busy, ...each.idle, ...each.starting, ...each.leaving]) * HOURS_A_STEP,
  );
  const tasks = sum(hoursBy.map((each, at) => each * (POOLS[at]?.dollarsPerTaskHour ?? 0)));
  const wait = { ...waitFigures(waits), jobs: 24_812 };
  const waiting = (wait.meanS / 60) * 1.1 * 24_812 * 0.7;
  const part = (jobs: number): WaitFigures => ({
    ...waitFigures(Array.from({ length: 300 }, () => waitOf(rule, random)).sort((a, b) => a - b)),
    jobs,
  });
  return {
    jobs: { submitted: 24_812, succeeded: 24_812 - rule.killed, reaped: 0, killed: rule.killed, unserved: 0 },
    wait,
    waitOfPeople: { ...wait, jobs: 17_368, meanS: 0.9 * wait.meanS },
    waitByPool: { default: part(19_733), large: part(3_204), data: part(1_875) },
    waitByGroup: {
      default: part(19_733),
      'default size=large': part(3_204),
      'data team=science': part(1_875),
    },
    waitByKind: {
      user: part(10_917),
      autostart: part(6_451),
      autostop: part(5_458),
      dormancy: part(34),
      prebuild: part(1_488),
      import: part(120),
    },
    failedPrebuilds: 0,
    executor: {
      due: 11_943,
      delayed: rule.policy === 'static' ? 0 : random.whole(3, 60),
      tooLate: 0,
      longestStopDelayS: 0,
    },
    tasks: {
      hours: sum(hoursBy),
      busyHours: sum(pools.flatMap(({ busy }) => busy)) * HOURS_A_STEP,
      peak: 97,
      launches: sum(pools.flatMap(({ changes }) => changes).map(({ from, to }) => Math.max(0, to - from))),
      idleLaunches: random.whole(20, 160),
      byPool: {},
    },
    peaks: { all: 97, byPool: { default: 70, large: 20, data: 12 } },
    dollars: { tasks, waiting, failures: rule.killed * 66, total: tasks + waiting + rule.killed * 66 },
    calls: {
      ticks: random.whole(9_000, 41_000),
      coderd: random.whole(30_000, 120_000),
      ecs: random.whole(20_000, 90_000),
    },
  };
}

function waitFigures(waits: readonly number[]): WaitFigures {
  const over = (seconds: number) => waits.filter((wait) => wait > seconds).length / waits.length;
  return {
    jobs: waits.length,
    meanS: sum(waits) / waits.length,
    p50S: percentile(waits, 0.5),
    p90S: percentile(waits, 0.9),
    p95S: percentile(waits, 0.95),
    p99S: percentile(waits, 0.99),
    maxS: waits.at(-1) ?? 0,
    over10s: over(10),
    over60s: over(60),
    over5min: over(300),
  };
}

const countsOf = (waits: readonly number[]): readonly number[] =>
  [...WAIT_EDGES_S, Number.POSITIVE_INFINITY].map((edge, at) => {
    const above = at === 0 ? -1 : (WAIT_EDGES_S[at - 1] ?? 0);
    return waits.filter((wait) => wait > above && wait <= edge).length;
  });

const earlier = (hours: readonly number[]): readonly number[] => [...hours.slice(1), ...hours.slice(0, 1)];

const hoursOf = ({ waitS, coldShare }: Rule, busy: readonly (readonly number[])[], random: Random) => {
  const jobs = Array.from({ length: 168 }, (_, hour) =>
    Math.round(sum(busy.map((each) => sum(each.slice(hour * 5, hour * 5 + 5)))) / 2),
  );
  return {
    jobs,
    meanWaitS: jobs.map((each) =>
      each === 0 ? 0 : waitS[0] + waitS[1] * coldShare * random.between(0.1, 2.4) * (each > 60 ? 1.6 : 1),
    ),
  };
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
