/**
 * What many worlds may do together, in thousandths. Few worlds do most of what is bad, so a figure says little without
 * its standard error: a bound is exceeded only if the figure less two of them is above it.
 */
import Table from 'cli-table3';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { WorldResult } from './figures.ts';
import type { WatchedFigures } from './watch.ts';

/** What the bounds need of a world. */
export type BoundedWorld = Pick<WorldResult, 'builds' | 'leaves' | 'ticks'> & {
  readonly watched: Omit<WatchedFigures, 'waits' | 'launchableWaits'>;
};

type Kind = 'quiet' | 'faulty';

type Bound = {
  readonly what: string;
  readonly of: (world: BoundedWorld) => readonly [part: number, whole: number];
  /** The largest share in worlds in which nothing fails. */
  readonly quiet: number;
  /** With all faults. */
  readonly faulty: number;
};

const BOUNDS: readonly Bound[] = [
  {
    what: 'launches that served nothing',
    of: ({ watched }) => [watched.idleLaunches, watched.launches],
    quiet: 100,
    faulty: 445,
  },
  {
    what: 'launches for a floor that was lowered within five minutes',
    of: ({ watched }) => [watched.floorFlaps, watched.launches],
    quiet: 4,
    faulty: 10,
  },
  {
    what: 'looks with more tasks than maxTasks',
    of: ({ watched, ticks }) => [watched.tasksAboveMaxTasks, ticks],
    quiet: 1,
    faulty: 90,
  },
  {
    what: 'looks with more tasks than maxTasks, launched while a service was hidden',
    of: ({ watched, ticks }) => [watched.aboveMaxTasksHidden, ticks],
    quiet: 0,
    faulty: 90,
  },
  {
    what: 'looks with more tasks than max in a pool',
    of: ({ watched, ticks }) => [watched.tasksAboveMax, ticks],
    quiet: 4,
    faulty: 180,
  },
  {
    what: 'jobs that waited three starts beside a pool with room',
    of: ({ watched, builds }) => [watched.stalled, builds],
    quiet: 0,
    faulty: 27,
  },
  {
    // of pools that are full: the worlds submit more than some of their limits allow
    what: 'jobs that a pool fitted for three starts, failed by coderd after 30 minutes',
    of: ({ watched, builds }) => [watched.reaped, builds],
    quiet: 27,
    faulty: 81,
  },
  {
    what: 'requests of one process refused twice for one task within a minute',
    of: ({ watched, leaves }) => [watched.repeatedRefusals, leaves],
    quiet: 0,
    faulty: 65,
  },
];

/** Fewer say nothing. */
const LEAST_LAUNCHES = 800;
const LEAST_WORLDS = 3;

/** One text for each bound that is exceeded. */
export function exceededBounds(
  worlds: readonly BoundedWorld[],
  { seed, kind }: { readonly seed: number; readonly kind: Kind },
): readonly string[] {
  const launches = sum(worlds, ({ watched }) => watched.launches);
  if (worlds.length < LEAST_WORLDS || launches < LEAST_LAUNCHES) return [];
  return BOUNDS.flatMap(({ what, of, [kind]: most }) => {
    const { share, error } = shareOf(worlds, of);
    if (share - 2 * error <= most) return [];
    return [`seed ${seed}: ${text(share, error)} in a thousand are ${what}, more than ${most}`];
  });
}

/** Each figure with its standard error, and its bound. */
export function boundTable(worlds: readonly BoundedWorld[], kind: Kind): string {
  const head = ['in a thousand', 'figure', 'bound'];
  const table = new Table({ head, style: { head: [], border: [] }, colAligns: ['left', 'right', 'right'] });
  for (const { what, of, [kind]: most } of BOUNDS) {
    const { share, error } = shareOf(worlds, of);
    table.push([what, text(share, error), most]);
  }
  return table.toString();
}

const text = (share: number, error: number): string => `${share.toFixed(1)} ± ${error.toFixed(1)}`;

/** The share of all worlds in thousandths, and its standard error by the jackknife over worlds. */
function shareOf(
  worlds: readonly BoundedWorld[],
  of: Bound['of'],
): { readonly share: number; readonly error: number } {
  const pairs = worlds.map(of);
  const parts = sum(pairs, ([part]) => part);
  const wholes = sum(pairs, ([, whole]) => whole);
  const perThousand = (part: number, whole: number): number => (1000 * part) / Math.max(1, whole);
  const without = pairs.map(([part, whole]) => perThousand(parts - part, wholes - whole));
  const mean = sum(without, (share) => share) / without.length;
  const variance = sum(without, (share) => (share - mean) ** 2) * ((pairs.length - 1) / pairs.length);
  return { share: perThousand(parts, wholes), error: Math.sqrt(variance) };
}
