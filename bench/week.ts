/** Measures the speed of a backtest: the autoscaler over a week of 3,000 users, on one core. */
import { run } from '../backtest/replay/run.ts';
import { configFileOf, SCENARIOS } from '../backtest/scenarios/index.ts';
import { generateTrace } from '../backtest/trace/generate/generate.ts';
import { loadConfig } from '../lambda/config/load.ts';
import { BenchError } from './shared/bench-error.ts';

export type WeekFigures = {
  readonly scenario: string;
  readonly jobs: number;
  readonly looks: number;
  readonly seconds: number;
};

const SCENARIO = '3k-users';

export async function measureWeek(seed: number): Promise<WeekFigures> {
  const scenario = SCENARIOS.find(({ name }) => name === SCENARIO);
  if (scenario === undefined)
    throw new BenchError(`measuring a week: there is no scenario "${SCENARIO}"; name another one`);
  const { config } = loadConfig(configFileOf(scenario));
  const trace = generateTrace(scenario, { seed, days: 7 });
  const startedAt = performance.now();
  const { figures } = await run(
    { kind: 'autoscaler' },
    { ...{ trace, config, seed, isPictured: false }, valueOfMinute: 1, dollarsPerHour: () => 1 },
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return { scenario: SCENARIO, jobs: figures.jobs.submitted, looks: figures.calls.ticks, seconds };
}
