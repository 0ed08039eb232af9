/**
 * Days in the middle of a busy time, each played by a process that knows nothing, as after the first deployment, and
 * by one that has seen the days before. The difference is what learning costs.
 */
import { loadConfig } from '../../../lambda/config/load.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { meanOf, partition } from '../../../lambda/decision/model/collections.ts';
import { DAY_MS } from '../../../lambda/decision/model/units.ts';
import { configFileOf } from '../scenarios/index.ts';
import { ONE_THOUSAND, THREE_THOUSAND } from '../scenarios/sizes.ts';
import { AGENTS, BURSTS, GPU_POOLS, PREBUILD_HEAVY, SMALL_TEAM } from '../scenarios/special.ts';
import { generateTrace } from '../trace/generate/generate.ts';
import type { Scenario } from '../trace/generate/scenario.ts';
import type { Trace } from '../trace/trace.ts';
import { ratioOf, ratioText } from './ratio.ts';
import { type Bench, CELL_HEADS, cellsOf, daysAt, ownRuns, PRICES, type Subject, subjectOf } from './runs.ts';
import type { BenchTable } from './table.ts';

/** `day`: counted from 0. The days before it are played too, so it is not far into the trace. */
const COLD_DAYS: readonly { readonly scenario: Scenario; readonly seed: number; readonly day: number }[] = [
  { scenario: SMALL_TEAM, seed: 2, day: 3 },
  { scenario: SMALL_TEAM, seed: 3, day: 8 },
  { scenario: ONE_THOUSAND, seed: 2, day: 2 },
  { scenario: THREE_THOUSAND, seed: 2, day: 1 },
  { scenario: GPU_POOLS, seed: 2, day: 2 },
  { scenario: GPU_POOLS, seed: 3, day: 4 },
  { scenario: PREBUILD_HEAVY, seed: 2, day: 2 },
  { scenario: BURSTS, seed: 2, day: 3 },
  { scenario: BURSTS, seed: 3, day: 5 },
  { scenario: AGENTS, seed: 2, day: 2 },
];

export async function compareColdDays(bench: Bench): Promise<BenchTable> {
  const days = await Promise.all(COLD_DAYS.map((day) => pairsOf(day, bench)));
  const rows = PRICES.flatMap((_, at) => {
    const pairs = days.flatMap((day) => day[at] ?? []);
    // each day counts alike, however much it costs
    const ratio = ratioOf(
      pairs.map(({ cold, warm }) => cold / warm),
      pairs.map(() => 1),
    );
    return [
      ...pairs.map(({ cells }) => cells),
      ['mean of the days', `${PRICES[at]}`, '', '', ratioText(ratio), ''],
    ];
  });
  return {
    columns: [
      ...['day', '$/min'].map((head) => ({ head, align: 'left' as const })),
      ...['cold $', 'warm $', 'cold / warm', 'warm mean s', ...CELL_HEADS].map((head) => ({
        ...{ head, align: 'right' as const },
      })),
    ],
    rows,
    notes: [
      'cold: by a process that knows nothing and may ask coderd, to which all columns on the right belong; warm: by one that has seen the days before',
      'mean: with its 95 % interval for other such days',
    ],
  };
}

async function pairsOf({ scenario, seed, day }: (typeof COLD_DAYS)[number], bench: Bench) {
  const { config } = loadConfig(configFileOf(scenario));
  const whole = subjectOf(generateTrace(scenario, { seed, days: day + 1 }), config);
  const name = `${scenario.name} ${seed}, day ${day}`;
  const pairs = PRICES.map(async (price) => {
    const [cold, warm] = await Promise.all([
      ownRuns(lastDayOf(whole), price, bench),
      ownRuns(whole, price, bench),
    ]);
    const [coldDollars, warmDollars] = [cold, warm].map((runs) => daysAt(price, runs).at(-1) ?? 0);
    const waits = warm.runs.flatMap(({ days }) => days.at(-1)?.waitsS ?? []);
    const [coldCost, warmCost] = [coldDollars ?? 0, warmDollars ?? 0];
    const ratio = (coldCost / warmCost).toFixed(2);
    const cells = [
      ...[name, `${price}`, coldCost.toFixed(2), warmCost.toFixed(2), ratio, meanOf(waits).toFixed(1)],
      ...cellsOf(cold),
    ];
    return { cold: coldCost, warm: warmCost, cells };
  });
  return Promise.all(pairs);
}

function lastDayOf({ trace, config }: Subject): Subject {
  return { config, trace: from(trace, plusMs(trace.to, -DAY_MS)) };
}

/** coderd knows the days before. */
function from(trace: Trace, start: Trace['from']): Trace {
  const [past, jobs] = partition(trace.jobs, ({ at }) => at < start);
  return { ...trace, from: start, past, jobs };
}
