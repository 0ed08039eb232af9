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
  asksRefused: 'drain requests that ECS refused',
  /** Drain requests because of a changed secret to tasks that have its present value. */
  falseRolls: 'tasks rolled for a secret that had not changed',
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
  messageFaults: 'messages for the next look lost, repeated or late',
} as const;

/** The looks' ledger of builds that died with their tasks, against the world's own. */
const LEDGER = {
  died: 'builds that died with their tasks',
  /** Those of them that a look reported. */
  listed: '… listed by the looks',
  /** No new process can know of them: with the key coderd deleted the row. Here each process is new. */
  unknowable: '… not listed: key deleted, no row of the daemon',
  /** Those of them of whose tasks a look said that nobody knows whether they ran a build. */
  saidUnknown: '… … of these, reported as unknown',
  /** Builds that a look reported although they did not die. */
  invented: 'builds listed that did not die',
} as const;

/** Shares from 0 to 1. */
const SHARES = {
  recall: 'recall of what can be known',
  recallOfAll: 'recall of all',
  /** Share of the listed builds that did die. */
  precision: 'precision',
} as const;

type NumbersOf<T extends object> = Readonly<Record<keyof T, number>>;

type WorldCounts = NumbersOf<typeof COUNTED>;
export type LedgerFigures = NumbersOf<typeof LEDGER>;

export type WorldResult = WorldCounts & {
  readonly seed: number;
  /** From idle until the task stopped, one value a leave, in order of time. */
  readonly idleToGoneSeconds: readonly number[];
  readonly ledger: LedgerFigures;
  readonly watched: WatchedFigures;
  /** Every violation that was found, each as a text; empty if there is none. */
  readonly problems: readonly string[];
};

/** From the submission of a job until its start, in seconds. */
type Waits = { readonly p50: number; readonly p99: number; readonly longest: number };
/** By code: the worlds that had the finding, and the looks. */
type Findings = Readonly<Record<string, { readonly worlds: number; readonly looks: number }>>;

export type RandomWorldFigures = WorldCounts & {
  /** From the last moment that a daemon had work until its task stopped. */
  readonly idleToGoneSeconds: { readonly p50: number; readonly p95: number };
  readonly ledger: LedgerFigures & NumbersOf<typeof SHARES>;
  readonly watched: NumbersOf<typeof WATCHED> & { readonly waits: Waits; readonly findings: Findings };
  readonly seed: number;
  readonly seconds: number;
};

/** Sums up the results. `seconds` is the duration of the simulation. */
export function sumUp(
  results: readonly WorldResult[],
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
): RandomWorldFigures {
  const waits = results.flatMap(({ idleToGoneSeconds }) => idleToGoneSeconds).sort((a, b) => a - b);
  const ledger = totals(
    LEDGER,
    results.map((result) => result.ledger),
  );
  const { died, listed, invented, unknowable } = ledger;
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
  return {
    ...totals(COUNTED, results),
    idleToGoneSeconds: {
      p50: Math.round(percentile(waits, 0.5)),
      p95: Math.round(percentile(waits, 0.95)),
    },
    ledger: {
      ...ledger,
      recall: share(listed, died - unknowable),
      recallOfAll: share(listed, died),
      precision: share(listed, listed + invented),
    },
    watched: sumUpWatched(results.map(({ watched }) => watched)),
    seed,
    seconds,
  };
}

function sumUpWatched(watched: readonly WatchedFigures[]): RandomWorldFigures['watched'] {
  const waits = watched.flatMap((it) => it.waits).sort((a, b) => a - b);
  const codes = [...new Set(watched.flatMap(({ findings }) => Object.keys(findings)))].sort();
  const findings = codes.map((code) => {
    const looks = watched.flatMap((it) => it.findings[code] ?? []);
    return [code, { worlds: looks.length, looks: sum(looks, (count) => count) }] as const;
  });
  return {
    ...totals(WATCHED, watched),
    mostRefusals: Math.max(0, ...watched.map(({ mostRefusals }) => mostRefusals)),
    waits: {
      p50: Math.round(percentile(waits, 0.5)),
      p99: Math.round(percentile(waits, 0.99)),
      longest: Math.round(waits.at(-1) ?? 0),
    },
    findings: Object.fromEntries(findings),
  };
}

function totals<T extends object>(labels: T, results: readonly NumbersOf<T>[]): NumbersOf<T> {
  const names = Object.keys(labels) as (keyof T)[];
  const sums = names.map((name) => [name, sum(results, (result) => result[name])]);
  return Object.fromEntries(sums) as NumbersOf<T>;
}

export function tableOf(figures: RandomWorldFigures): string {
  const { idleToGoneSeconds, ledger, watched, seed, seconds } = figures;
  const table = new Table({ style: { head: [], border: [] }, colAligns: ['left', 'right'] });
  table.push(
    ...rowsOf(COUNTED, figures, (count) => count.toLocaleString('en')),
    ['idle until task stopped, p50', `${idleToGoneSeconds.p50} s`],
    ['idle until task stopped, p95', `${idleToGoneSeconds.p95} s`],
    ...rowsOf(LEDGER, ledger, (count) => count.toLocaleString('en')),
    ...rowsOf(SHARES, ledger, (share) => `${(share * 100).toFixed(1)} %`),
    ...rowsOf(WATCHED, watched, (count) => count.toLocaleString('en')),
    [
      'waits of jobs, p50, p99, longest',
      `${watched.waits.p50}, ${watched.waits.p99}, ${watched.waits.longest} s`,
    ],
    ...Object.entries(watched.findings).map(([code, { worlds, looks }]) => [
      `finding ${code}`,
      `${looks} looks, ${worlds} worlds`,
    ]),
    ['seed', seed],
    ['duration', `${seconds} s`],
  );
  return table.toString();
}

function rowsOf<T extends Readonly<Record<string, string>>>(
  labels: T,
  figures: NumbersOf<T>,
  textOf: (figure: number) => string,
): readonly [string, string][] {
  return Object.entries(labels).map(([name, label]) => [label, textOf(figures[name as keyof T])]);
}
