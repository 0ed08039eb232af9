/** What a simulation counts in its worlds, and the table of it. */
import Table from 'cli-table3';
import { percentile, sum } from '../../../lambda/decision/model/collections.ts';
import { WATCHED, type WatchedFigures } from './watch.ts';

/** What each world counts, with the labels of the table. */
const COUNTED = {
  /** Tasks that got a drain request or drained by themselves, and have stopped. */
  leaves: 'tasks that have left',
  /** Builds that a daemon started. */
  builds: 'builds',
  killedByUs: 'builds killed by a scale-in or a deployment',
  /** By Spot, hosts, StopTask, or a protection that a person removed. */
  killedByOthers: 'builds killed by others (Spot, hosts, memory, people)',
  died: 'builds that died with their tasks',
  /** Those of them that a look reported. Any other one is a problem, unless it is unknowable. */
  listed: '… listed by the looks',
  /** No new process can know of them: with the key coderd deleted the row. Here each process is new. */
  unknowable: '… not listed: key deleted, no row of the daemon',
  worlds: 'worlds',
  /** Scale-in on hold, and a finding for it: see `LookLog.report`. */
  heldWorlds: 'worlds that ended with scale-in on hold',
  ticks: 'looks',
  /** Malformed ones included. */
  overrides: 'overrides that people set',
  /** Those included that were taken back later. */
  retired: 'pools that were retired',
  secretsChanged: 'keys that people replaced',
  fakeDaemons: 'daemons that claimed a task of others',
  recordFaults: 'records of builds lost, old, wrong or denied',
  /** Each time that lists fail counts. */
  sightFaults: 'services without a row, lists that failed, old heartbeats',
  messageFaults: 'messages for the next look lost, repeated or late',
} as const;

type NumbersOf<T extends object> = Readonly<Record<keyof T, number>>;

type WorldCounts = NumbersOf<typeof COUNTED>;

/** What is compared. */
export type Cost = {
  readonly launches: number;
  /** Looks with more tasks than `maxTasks`, and pools in looks with more than their `max`. */
  readonly aboveLimits: number;
  /** How long each job waited while a pool that looks could see might launch for it, in seconds. */
  readonly waits: readonly number[];
  /** Jobs that coderd failed after 30 minutes, although such a pool was there for three starts. */
  readonly reaped: number;
};

export type Twin = Cost & {
  /** Whether lists fail for seconds, in few looks: only then waits are bounded. */
  readonly isBrief: boolean;
};

export type WorldResult = WorldCounts & {
  readonly seed: number;
  readonly watched: WatchedFigures;
  /** What the same world costs if looks see all. @default it was not played */
  readonly twin?: Twin;
  /** Of all looks: see `LookLog.digest`. */
  readonly digest: string;
  /** Every violation that was found, each as a text; empty if there is none. */
  readonly problems: readonly string[];
};

/** From the submission of a job until its start, in seconds. */
type Waits = { readonly p50: number; readonly p99: number; readonly longest: number };

export type RandomWorldFigures = WorldCounts & {
  readonly watched: NumbersOf<typeof WATCHED> & { readonly waits: Waits };
  readonly seed: number;
  readonly seconds: number;
};

/** Sums up the results. `seconds` is the duration of the simulation. */
export function sumUp(
  results: readonly WorldResult[],
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
): RandomWorldFigures {
  const watched = results.map((result) => result.watched);
  const waits = watched.flatMap((it) => it.waits).sort((a, b) => a - b);
  return {
    ...totals(COUNTED, results),
    watched: {
      ...totals(WATCHED, watched),
      waits: {
        p50: Math.round(percentile(waits, 0.5)),
        p99: Math.round(percentile(waits, 0.99)),
        longest: Math.round(waits.at(-1) ?? 0),
      },
    },
    seed,
    seconds,
  };
}

function totals<T extends object>(labels: T, results: readonly NumbersOf<T>[]): NumbersOf<T> {
  const names = Object.keys(labels) as (keyof T)[];
  const sums = names.map((name) => [name, sum(results, (result) => result[name])]);
  return Object.fromEntries(sums) as NumbersOf<T>;
}

export function tableOf(figures: RandomWorldFigures): string {
  const { watched, seed, seconds } = figures;
  const { p50, p99, longest } = watched.waits;
  const table = new Table({ style: { head: [], border: [] }, colAligns: ['left', 'right'] });
  table.push(
    ...rowsOf(COUNTED, figures),
    ...rowsOf(WATCHED, watched),
    ['waits of jobs, p50, p99, longest', `${p50}, ${p99}, ${longest} s`],
    ['seed', seed],
    ['duration', `${seconds} s`],
  );
  return table.toString();
}

function rowsOf<T extends Readonly<Record<string, string>>>(
  labels: T,
  figures: NumbersOf<T>,
): readonly [string, string][] {
  return Object.entries(labels).map(([name, label]) => [
    label,
    figures[name as keyof T].toLocaleString('en'),
  ]);
}
