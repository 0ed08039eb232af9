/** Recommends price, limits above the peaks and start time, as YAML of what changes. */
import { stringify } from 'yaml';
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import { START_TIME } from '../../../lambda/config/schema/schema.ts';
import { waitingOf } from '../../../lambda/config/schema/waiting-schema.ts';
import { ownValue } from '../../../lambda/decision/model/collections.ts';
import type { Waiting } from '../../../lambda/decision/model/config.ts';
import { some } from '../../../lambda/explain/format.ts';
import { priceOfWaiting } from '../replay/prices.ts';
import type { Figures } from '../replay/result.ts';

type RecommendedPool = {
  readonly name: string;
  readonly max: number;
  /** The peak of the desired count. 0: the pool ran no job of the trace, and `max` stays as configured. */
  readonly used: number;
};

export type Recommendation = {
  /** Dollars for each minute of a person. */
  readonly price: number;
  readonly pools: readonly RecommendedPool[];
  readonly maxTasks: number;
  readonly maxTasksUsed: number;
  /** Undefined: the trace has no start times. */
  readonly startTimeMs: number | undefined;
};

export function recommend(
  config: Deployment,
  { price, figures: { peaks } }: { readonly price: number; readonly figures: Pick<Figures, 'peaks'> },
  startTimeMs: number | undefined,
): Recommendation {
  const pools = config.pools.map(({ name, max }) => {
    const used = ownValue(peaks.byPool, name) ?? 0;
    return { name, used, max: used === 0 ? max : Math.max(max, withRoom(used)) };
  });
  const largest = Math.max(...pools.map(({ max }) => max));
  return {
    price,
    pools,
    maxTasks: Math.max(config.limits.maxTasks, largest, withRoom(peaks.all)),
    maxTasksUsed: peaks.all,
    startTimeMs,
  };
}

/**
 * One quarter more, and at least two tasks: the next weeks may be busier than the trace. A limit is never
 * lowered.
 */
const withRoom = (tasks: number): number => Math.max(tasks + 2, Math.ceil(tasks * 1.25));

/** The slowest start in steps of 5 s, within the range of the setting. Undefined: the trace has none. */
export function startTimeOf(
  startSeconds: readonly [from: number, to: number] | undefined,
): number | undefined {
  if (startSeconds === undefined) return undefined;
  const stepped = Math.ceil(startSeconds[1] / 5) * 5_000;
  return Math.min(START_TIME.toMs, Math.max(START_TIME.fromMs, stepped));
}

export function withStartTime(
  config: Deployment,
  startSeconds: readonly [from: number, to: number] | undefined,
): Deployment {
  const startTimeMs = startTimeOf(startSeconds);
  if (startTimeMs === undefined) return config;
  return { ...config, pools: config.pools.map((pool) => ({ ...pool, startTimeMs })) };
}

/** The YAML of what changes. `config`: with the price of the recommendation, and its present limits. */
export function yamlFragment(
  { maxTasks, maxTasksUsed, pools, startTimeMs }: Recommendation,
  config: Deployment,
): string {
  const top = topWaiting(config);
  const becauseOf = (used: number): string => `  # it used up to ${some(used, 'task')}, idle ones too`;
  const changed = pools.flatMap(({ name, max, used }) => {
    const pool = config.pools.find((each) => each.name === name);
    const person = pool?.waiting.person ?? top.person;
    const lines = [
      ...(max === pool?.max ? [] : [`    max: ${max}${becauseOf(used)}`]),
      ...(isOther(person, top.person) ? ['    waiting:', `      person: ${amount(person)}`] : []),
      ...(startTimeMs === undefined ? [] : [`    startTime: ${startTimeMs / 1000}s`]),
    ];
    return lines.length === 0 ? [] : [`  - name: ${stringify(name).trim()}`, ...lines];
  });
  return [
    'waiting:',
    ...pricesOf(top).map((line) => `  ${line}`),
    ...(maxTasks === config.limits.maxTasks
      ? []
      : ['limits:', `  maxTasks: ${maxTasks}${becauseOf(maxTasksUsed)}`]),
    ...(changed.length === 0 ? [] : ['pools:', ...changed]),
  ].join('\n');
}

type Prices = Partial<Waiting> & Pick<Waiting, 'person'>;

/** The price of a person, and other prices that are not the default fractions of it. */
function topWaiting({ pools }: Deployment): Prices {
  const person = priceOfWaiting({ pools });
  const usual = waitingOf({ person }, undefined);
  const waiting = pools.find((pool) => pool.waiting.person === person)?.waiting ?? usual;
  const written = NAMES.filter((name) => name === 'person' || isOther(waiting[name], usual[name]));
  return { person, ...Object.fromEntries(written.map((name) => [name, waiting[name]])) };
}

const NAMES = ['person', 'autostart', 'prebuild'] as const;

const pricesOf = (prices: Prices): readonly string[] =>
  NAMES.flatMap((name) => (prices[name] === undefined ? [] : `${name}: ${amount(prices[name])}`));

const isOther = (one: number, other: number): boolean => Math.abs(one - other) > 1e-6 * Math.max(one, other);

const amount = (dollars: number): string => String(Number(dollars.toPrecision(3)));
