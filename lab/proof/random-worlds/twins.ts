/**
 * What partial sight costs: a world in which nothing else fails against its twin, in which the same happens and looks
 * see all (`WorldPlan.hasWholeSight`). Both sides count: launches, and how long jobs wait.
 */
import Table from 'cli-table3';
import { percentile, sum } from '../../../lambda/decision/model/collections.ts';
import type { Cost, Twin, WorldResult } from './figures.ts';

type Bound = {
  readonly what: string;
  readonly of: (cost: Cost) => number;
  /** At most so many times the twin's number, and so much more. */
  readonly times: number;
  readonly more: number;
  /** @default false */
  readonly onlyBrief?: boolean;
};

const p95 = ({ waits }: Cost): number => percentile(sorted(waits), 0.95);

/**
 * What should be, not what was measured: twice the launches, and waits half as long again while lists fail in few
 * looks. `more` is what two plays of one world may differ by, since after one launch more all later events differ.
 */
const MOST_FOR_PARTIAL_SIGHT: readonly Bound[] = [
  { what: 'launches', of: ({ launches }) => launches, times: 2, more: 10 },
  { what: 'looks with more tasks than a limit', of: ({ aboveLimits }) => aboveLimits, times: 1, more: 10 },
  { what: 'seconds that 95 % of the jobs waited at most', of: p95, times: 1.5, more: 30, onlyBrief: true },
  { what: 'jobs failed by coderd after 30 minutes', of: ({ reaped }) => reaped, times: 1.5, more: 5 },
];

/** What the result of a world says of it. */
export const costOf = ({ watched }: WorldResult): Cost => ({
  launches: watched.launches,
  aboveLimits: watched.tasksAboveMax + watched.tasksAboveMaxTasks,
  waits: watched.launchableWaits,
  reaped: watched.reaped,
});

/** One text for each bound that a world exceeds. */
export function exceededByTwin({ twin, ...result }: WorldResult): readonly string[] {
  if (twin === undefined) return [];
  return MOST_FOR_PARTIAL_SIGHT.flatMap(({ what, of, times, more, onlyBrief = false }) => {
    const [own, whole] = [Math.round(of(costOf(result))), Math.round(of(twin))];
    if (own <= times * whole + more || (onlyBrief && !twin.isBrief)) return [];
    return `world ${result.seed}: ${own} ${what}, but ${whole} if looks see all; at most ${times} times as much and ${more} more are allowed`;
  });
}

/** A row for each world that has a twin, and one for all of them. */
export function twinTable(results: readonly WorldResult[]): string {
  const pairs = results.flatMap(({ twin, ...result }) =>
    twin === undefined
      ? []
      : { name: nameOf(result, twin), faults: result.sightFaults, own: costOf(result), twin },
  );
  const total = {
    name: 'all',
    faults: sum(pairs, ({ faults }) => faults),
    own: joined(pairs.map(({ own }) => own)),
    twin: joined(pairs.map(({ twin }) => twin)),
  };
  const head = [
    ...['world', 'sight faults', 'launches', 'looks above a limit'],
    ...['waits: p50', 'p95', 'longest (s)', 'failed after 30 min'],
  ];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ['right'] });
  for (const { name, faults, own, twin } of [...pairs, total]) {
    const whole = numbersOf(twin);
    table.push([name, `${faults}`, ...numbersOf(own).map((number, index) => `${number} (${whole[index]})`)]);
  }
  return `In brackets: the same world if looks see all. *: its lists fail for long.\n${table.toString()}`;
}

const nameOf = ({ seed }: Pick<WorldResult, 'seed'>, { isBrief }: Twin): string =>
  `${seed}${isBrief ? '' : ' *'}`;

function numbersOf({ launches, aboveLimits, waits, reaped }: Cost): readonly number[] {
  const inOrder = sorted(waits);
  const seconds = [percentile(inOrder, 0.5), percentile(inOrder, 0.95), inOrder.at(-1) ?? 0];
  return [launches, aboveLimits, ...seconds.map(Math.round), reaped];
}

function joined(costs: readonly Cost[]): Cost {
  return {
    launches: sum(costs, ({ launches }) => launches),
    aboveLimits: sum(costs, ({ aboveLimits }) => aboveLimits),
    waits: costs.flatMap(({ waits }) => waits),
    reaped: sum(costs, ({ reaped }) => reaped),
  };
}

const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((a, b) => a - b);
