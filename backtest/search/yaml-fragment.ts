/**
 * Formats the recommended settings as YAML for autoscaler.yaml: only required settings, and those
 * that differ from a default.
 */
import { stringify } from 'yaml';
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import { waitingOf } from '../../lambda/config/schema/waiting-schema.ts';
import type { Waiting } from '../../lambda/decision/model/config.ts';
import { priceOfWaiting } from '../replay/waiting-price.ts';
import type { Recommendation } from './recommendation.ts';

/** The YAML. `config` is the configuration with the recommendation applied. */
export function yamlFragment(
  { maxTasks, maxTasksUsed, pools, startTimeMs }: Recommendation,
  config: Deployment,
): string {
  const top = topWaiting(config);
  const lines = [
    ...['waiting:', ...pricesOf(top).map((line) => `  ${line}`)],
    ...['limits:', `  maxTasks: ${maxTasks}  # the replay had up to ${maxTasksUsed} tasks, idle ones too`],
    'pools:',
  ];
  for (const { name, max, used } of pools) {
    const waiting = config.pools.find((pool) => pool.name === name)?.waiting;
    const own = waiting === undefined ? [] : differences(waiting, top);
    lines.push(
      `  - name: ${stringify(name).trim()}`,
      used === 0
        ? `    max: ${max}  # unchanged: it ran no job of this trace`
        : `    max: ${max}  # the replay had up to ${used} tasks, idle ones too`,
      ...(own.length === 0 ? [] : ['    waiting:', ...own.map((line) => `      ${line}`)]),
      ...(startTimeMs === undefined ? [] : [`    startTime: ${startTimeMs / 1000}s`]),
    );
  }
  return lines.join('\n');
}

type Prices = Partial<Waiting> & Pick<Waiting, 'person'>;

/** The price of a person, and other prices that are not the default fractions of it. */
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

/** The pool's own prices: those that do not follow from the prices above it. */
function differences(waiting: Waiting, top: Prices): readonly string[] {
  const isOwn = isOther(waiting.person, top.person);
  const followed = waitingOf(top, isOwn ? { person: waiting.person } : {});
  return NAMES.filter((name) => (name === 'person' ? isOwn : isOther(waiting[name], followed[name]))).map(
    (name) => `${name}: ${amount(waiting[name])}`,
  );
}

const isOther = (one: number, other: number): boolean => Math.abs(one - other) > 1e-6 * Math.max(one, other);

const amount = (dollars: number): string => String(Number(dollars.toPrecision(3)));
