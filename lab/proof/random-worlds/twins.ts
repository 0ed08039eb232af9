/**
 * What partial sight costs: a world in which nothing else fails against its twin, in which the same happens and looks
 * see all (`WorldPlan.hasWholeSight`). Both sides count: launches, and how long jobs wait.
 */
import Table from 'cli-table3';
import { percentile, sum } from '../../../lambda/decision/model/collections.ts';
import type { WorldResult } from './figures.ts';

/** What is compared. */
export type Cost = {
  readonly launches: number;
  /** Jobs that coderd failed after 30 minutes. */
  readonly reaped: number;
  /** From the submission of each job until its start, in seconds. */
  readonly waits: readonly number[];
};

type Bound = {
  readonly what: string;
  readonly of: (cost: Cost) => number;
  /** At most so many times the twin's number, and so much more. */
  readonly times: number;
  readonly more: number;
};

const p95 = ({ waits }: Cost): number =>
  percentile(
    waits.toSorted((a, b) => a - b),
    0.95,
  );

/**
 * What should be, not what was measured: twice the launches, and one and a half times the waits. `more` is what two
 * plays of one world may differ by, because after one launch more all later events happen to other tasks.
 */
export const MOST_FOR_PARTIAL_SIGHT: readonly Bound[] = [
  { what: 'launches', of: ({ launches }) => launches, times: 2, more: 10 },
  { what: 'seconds that 95 % of the jobs waited at most', of: p95, times: 1.5, more: 30 },
  { what: 'jobs failed by coderd after 30 minutes', of: ({ reaped }) => reaped, times: 1.5, more: 5 },
];

/** What the result of a world says of it. */
export const costOf = ({ watched: { launches, reaped, waits } }: WorldResult): Cost => ({
  launches,
  reaped,
  waits,
});

/** One text for each bound that a world exceeds. */
export function exceededByTwin({ twin, ...result }: WorldResult): readonly string[] {
  if (twin === undefined) return [];
  return MOST_FOR_PARTIAL_SIGHT.flatMap(({ what, of, times, more }) => {
    const [own, whole] = [Math.round(of(costOf(result))), Math.round(of(twin))];
    if (own <= times * whole + more) return [];
    return `world ${result.seed}: ${own} ${what}, but ${whole} if looks see all; at most ${times} times as much and ${more} more are allowed`;
  });
}

/** A row for each world that has a twin, and one for all of them. */
export function twinTable(results: readonly WorldResult[]): string {
  const pairs = results.flatMap(({ twin, ...result }) =>
    twin === undefined
      ? []
      : { name: `${result.seed}`, faults: result.sightFaults, own: costOf(result), twin },
  );
  const total = {
    name: 'all',
    faults: sum(pairs, ({ faults }) => faults),
    own: joined(pairs.map(({ own }) => own)),
    twin: joined(pairs.map(({ twin }) => twin)),
  };
  const head = [
    'world',
    'sight faults',
    'launches',
    'waits: p50',
    'p95',
    'longest (s)',
    'failed after 30 min',
  ];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ['right'] });
  for (const { name, faults, own, twin } of [...pairs, total])
    table.push([
      name,
      `${faults}`,
      ...numbersOf(own).map((number, index) => `${number} (${numbersOf(twin)[index]})`),
    ]);
  return `In brackets: the same world if looks see all.\n${table.toString()}`;
}

function numbersOf({ launches, reaped, waits }: Cost): readonly number[] {
  const sorted = waits.toSorted((a, b) => a - b);
  const seconds = [percentile(sorted, 0.5), percentile(sorted, 0.95), sorted.at(-1) ?? 0];
  return [launches, ...seconds.map(Math.round), reaped];
}

function joined(costs: readonly Cost[]): Cost {
  return {
    launches: sum(costs, ({ launches }) => launches),
    reaped: sum(costs, ({ reaped }) => reaped),
    waits: costs.flatMap(({ waits }) => waits),
  };
}
