import { describe, expect, it } from 'vitest';
import type { Run } from '../../backtest/replay/run.ts';
import { type SuggestOptions, suggest } from '../../backtest/search/suggest.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { aDeployment, aTrace, runBaseline } from './support.ts';

/** One pool, at the default price of $0.10. */
const CONFIG = aDeployment();
const EMPTY = await runBaseline('static');

function runThatCosts(total: number): Run {
  const { figures } = EMPTY;
  return { ...EMPTY, figures: { ...figures, dollars: { ...figures.dollars, total } } };
}

/** `totals`: dollars at each price. `after`: with all suggested settings. */
async function suggested(
  totals: Readonly<Record<string, number>>,
  after: number,
  options: Partial<SuggestOptions> = {},
) {
  const asked: number[] = [];
  const configs: Deployment[] = [];
  const given = { trace: aTrace(), config: CONFIG, valueOfMinute: 0.1, ...options };
  const suggestion = await suggest(given, {
    runAt: async (price) => {
      asked.push(price);
      return runThatCosts(totals[price] ?? 0);
    },
    runWith: async (config) => {
      configs.push(config);
      return runThatCosts(after);
    },
  });
  return { ...suggestion, asked: [...new Set(asked)], configs };
}

describe('suggest', () => {
  it.each([
    { totals: { 0.05: 9, 0.1: 10, 0.2: 12 }, after: 9, price: 0.05, because: 'it saves a tenth' },
    { totals: { 0.05: 12, 0.1: 10, 0.2: 8 }, after: 8, price: 0.2, because: 'it saves a fifth' },
    { totals: { 0.05: 9.6, 0.1: 10, 0.2: 12 }, after: 10, price: 0.1, because: '4% is chance' },
    { totals: { 0.05: 11, 0.1: 10, 0.2: 12 }, after: 7, price: 0.1, because: 'only the limits help' },
    { totals: { 0.05: 0, 0.1: 0, 0.2: 0 }, after: 0, price: 0.1, because: 'nothing costs anything' },
  ])('suggests $price for totals of $totals: $because', async ({ totals, after, price }) => {
    const { settings, savedDollars, isWorthIt, configs } = await suggested(totals, after);
    expect(settings.price).toBe(price);
    expect(configs[0]?.pools[0]?.waiting.person).toBe(price);
    expect(savedDollars).toBeCloseTo(totals[0.1] - after, 9);
    expect(isWorthIt).toBe(savedDollars > 0.05 * totals[0.1]);
  });

  it('suggests the value of a minute when a higher price is better by chance only', async () => {
    const totals = { 0.1: 40, 0.5: 26, 1: 20, 2: 19.5 };
    const { settings } = await suggested(totals, 20, { valueOfMinute: 1 });
    expect(settings.price).toBe(1);
  });

  it('says to keep the settings when the run with all of them saves nothing', async () => {
    const { isWorthIt, savedDollars } = await suggested({ 0.05: 5, 0.1: 10, 0.2: 12 }, 11);
    expect({ isWorthIt, savedDollars }).toEqual({ isWorthIt: false, savedDollars: -1 });
  });

  it.each([
    { options: {}, asked: [0.05, 0.1, 0.2], because: 'half and twice the value of a minute' },
    {
      options: { valueOfMinute: 1 },
      asked: [0.1, 0.5, 1, 2],
      because: 'the configured price is for comparison',
    },
    { options: { sweep: [0.3, 0.7] }, asked: [0.1, 0.3, 0.7], because: 'a sweep has its own prices' },
    { options: { valueOfMinute: 0 }, asked: [0, 0.1], because: 'waiting costs nothing' },
    { options: { valueOfMinute: 900 }, asked: [0.1, 450, 900, 1000], because: '1000 is the highest price' },
  ])('tries prices of $asked for $options: $because', async ({ options, asked }) => {
    const tried = await suggested({}, 0, options);
    expect(tried.asked).toEqual(asked);
    expect(tried.trials.map(({ price }) => price)).toEqual(asked);
    expect(tried.trials.filter(({ isConfigured }) => isConfigured).length).toBe(1);
  });

  it('writes the settings as YAML', async () => {
    const { yaml } = await suggested({ 0.05: 5, 0.1: 10, 0.2: 12 }, 5);
    expect(yaml).toContain('waiting:\n  person: 0.05\nlimits:\n  maxTasks: ');
  });
});
