/**
 * The recommended settings as YAML to paste into autoscaler.yaml: only what differs from a default
 * or has to be written.
 */
import { stringify } from 'yaml';
import { priceOfWaiting } from '../../backtest/replay/waiting-price.ts';
import type { Recommendation } from '../../backtest/search/recommendation.ts';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { waitingOf } from '../../lambda/config/schema/waiting-schema.ts';
import type { Waiting } from '../../lambda/decision/model/config.ts';

/** `config` has the recommendation in it. */
export function yamlFragment(
  { maxTasks, maxTasksUsed, pools, startTimeMs }: Recommendation,
  config: Deployment,
): string {
  const top = topWaiting(config);
  const lines = [
    ...['waiting:', ...pricesOf(top).map((line) => `  ${line}`)],
    ...['limits:', `  maxTasks: ${maxTasks}  # this history used ${maxTasksUsed}`],
    'pools:',
  ];
  for (const { name, max, used } of pools) {
    const waiting = config.pools.find((pool) => pool.name === name)?.waiting;
    const own = waiting === undefined ? [] : differences(waiting, top);
    lines.push(
      `  - name: ${stringify(name).trim()}`,
      used === 0
        ? `    max: ${max}  # as before: it ran no job of this history`
        : `    max: ${max}  # this history used ${used}`,
      ...(own.length === 0 ? [] : ['    waiting:', ...own.map((line) => `      ${line}`)]),
      ...(startTimeMs === undefined ? [] : [`    startTime: ${startTimeMs / 1000}s`]),
    );
  }
  return lines.join('\n');
}

type Prices = Partial<Waiting> & Pick<Waiting, 'person'>;

/** The price of a person; the others where they are not the usual fractions of it. */
function topWaiting({ pools }: Deployment): Prices {
  const person = priceOfWaiting({ pools });
  const usual = waitingOf({ person }, {});
  const waiting = pools.find((pool) => pool.waiting.person === person)?.waiting ?? usual;
  const written = NAMES.filter((name) => name === 'person' || isOther(waiting[name], usual[name]));
  return { person, ...Object.fromEntries(written.map((name) => [name, waiting[name]])) };
}

const NAMES = ['person', 'autostart', 'prebuild', 'stop'] as const;

const pricesOf = (prices: Prices): readonly string[] =>
  NAMES.flatMap((name) => (prices[name] === undefined ? [] : `${name}: ${amount(prices[name])}`));

/** What the pool has to write: its own price of a person, and what does not follow from that. */
function differences(waiting: Waiting, top: Prices): readonly string[] {
  const isOwn = isOther(waiting.person, top.person);
  const followed = waitingOf(top, isOwn ? { person: waiting.person } : {});
  return NAMES.filter((name) => (name === 'person' ? isOwn : isOther(waiting[name], followed[name]))).map(
    (name) => `${name}: ${amount(waiting[name])}`,
  );
}

const isOther = (one: number, other: number): boolean => Math.abs(one - other) > 1e-6 * Math.max(one, other);

const amount = (dollars: number): string => String(Number(dollars.toPrecision(3)));
