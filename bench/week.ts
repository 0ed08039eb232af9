/** How fast the world on its virtual clock is: a week of 3,000 users through the autoscaler, on one core. */
import { run } from '../backtest/replay/run.ts';
import { configFileOf, SCENARIOS } from '../backtest/scenarios/index.ts';
import { generateTrace } from '../backtest/trace/generate/generate.ts';
import { loadConfig } from '../lambda/config/load.ts';

export type WeekFigures = {
  readonly scenario: string;
  readonly jobs: number;
  readonly looks: number;
  readonly seconds: number;
};

const SCENARIO = '3k-users';

export async function measureWeek(seed: number): Promise<WeekFigures> {
  const scenario = SCENARIOS.find(({ name }) => name === SCENARIO);
  if (scenario === undefined) throw new Error(`measuring a week: there is no scenario "${SCENARIO}"`);
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
