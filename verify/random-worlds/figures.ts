/** Sums up the results of all worlds of a simulation, and formats them as a table. */

import Table from 'cli-table3';
import { percentile, sum } from '../../lambda/decision/model/collections.ts';
import type { LedgerFigures } from './audit-ledger.ts';
import type { WorldResult } from './run-world.ts';

export type RandomWorldFigures = {
  /** Tasks that got a drain request or drained by themselves, and have stopped. */
  readonly leaves: number;
  /** Builds that a daemon started. */
  readonly builds: number;
  /** Builds killed by a scale-in or a deployment. */
  readonly killedByUs: number;
  /** Builds killed by Spot, hosts, StopTask, or a protection that a person removed. */
  readonly killedByOthers: number;
  /** Drain requests that ECS refused. */
  readonly asksRefused: number;
  /** Drain requests because of a changed secret to tasks that have its present value. */
  readonly falseRolls: number;
  /** From the last moment that a daemon had work until its task stopped. */
  readonly idleToGoneSeconds: { readonly p50: number; readonly p95: number };
  readonly worlds: number;
  /**
   * Worlds that ended with scale-in on hold, and a finding for it: coderd listed no daemon although
   * tasks held leases.
   */
  readonly heldWorlds: number;
  readonly ticks: number;
  /** Overrides that people set. */
  readonly overrides: number;
  /** Pools that were retired. */
  readonly retired: number;
  /** Keys that people replaced. */
  readonly secretsChanged: number;
  /** Daemons that claimed a task which was not theirs. */
  readonly fakeDaemons: number;
  /** How often the record of builds was lost, old, wrong or denied. */
  readonly recordFaults: number;
  /** Messages for the next look that were lost, repeated or late. */
  readonly messageFaults: number;
  /** The looks' ledger of builds that died with their tasks, against the world's own. */
  readonly ledger: LedgerFigures & {
    /** Share of the builds that could be known and are listed, 0 to 1. */
    readonly recall: number;
    /** Share of all builds that died and are listed, 0 to 1. */
    readonly recallOfAll: number;
    /** Share of the listed builds that did die, 0 to 1. */
    readonly precision: number;
  };
  readonly seed: number;
  readonly seconds: number;
};

/** Sums up the results. `seconds` is the duration of the simulation. */
export function sumUp(
  results: readonly WorldResult[],
  { seed, seconds }: { seed: number; seconds: number },
): RandomWorldFigures {
  const total = (of: (result: WorldResult) => number): number => sum(results, of);
  const waits = results.flatMap(({ idleToGoneSeconds }) => idleToGoneSeconds).sort((a, b) => a - b);
  return {
    leaves: total(({ leaves }) => leaves),
    builds: total(({ builds }) => builds),
    killedByUs: total(({ killedByUs }) => killedByUs),
    killedByOthers: total(({ killedByOthers }) => killedByOthers),
    asksRefused: total(({ asksRefused }) => asksRefused),
    falseRolls: total(({ falseRolls }) => falseRolls),
    idleToGoneSeconds: {
      p50: Math.round(percentile(waits, 0.5)),
      p95: Math.round(percentile(waits, 0.95)),
    },
    worlds: results.length,
    heldWorlds: results.filter(({ isHeld }) => isHeld).length,
    ticks: total(({ ticks }) => ticks),
    overrides: total(({ overrides }) => overrides),
    retired: total(({ retired }) => retired),
    secretsChanged: total(({ secretsChanged }) => secretsChanged),
    fakeDaemons: total(({ fakeDaemons }) => fakeDaemons),
    recordFaults: total(({ recordFaults }) => recordFaults),
    messageFaults: total(({ messageFaults }) => messageFaults),
    ledger: sumUpLedgers(results),
    seed,
    seconds,
  };
}

function sumUpLedgers(results: readonly WorldResult[]): RandomWorldFigures['ledger'] {
  const total = (of: (ledger: LedgerFigures) => number): number => sum(results, ({ ledger }) => of(ledger));
  const figures = {
    died: total(({ died }) => died),
    listed: total(({ listed }) => listed),
    invented: total(({ invented }) => invented),
    unknowable: total(({ unknowable }) => unknowable),
    saidUnknown: total(({ saidUnknown }) => saidUnknown),
  };
  const { died, listed, invented, unknowable } = figures;
  const share = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
  return {
    ...figures,
    recall: share(listed, died - unknowable),
    recallOfAll: share(listed, died),
    precision: share(listed, listed + invented),
  };
}

/** The figures as a table for the terminal. */
export function tableOf(figures: RandomWorldFigures): string {
  const { idleToGoneSeconds, ledger, ...rest } = figures;
  const table = new Table({ style: { head: [], border: [] }, colAligns: ['left', 'right'] });
  const { seed, seconds, ...counts } = rest;
  table.push(
    ...Object.entries(counts).map(([name, count]) => [LABELS[name] ?? name, count.toLocaleString('en')]),
    ['idle until task stopped, p50', `${idleToGoneSeconds.p50} s`],
    ['idle until task stopped, p95', `${idleToGoneSeconds.p95} s`],
    ...ledgerRows(ledger),
    ['seed', seed],
    ['duration', `${seconds} s`],
  );
  return table.toString();
}

function ledgerRows(ledger: RandomWorldFigures['ledger']): readonly [string, string][] {
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const count = (number: number): string => number.toLocaleString('en');
  return [
    ['builds that died with their tasks', count(ledger.died)],
    ['… listed by the looks', count(ledger.listed)],
    ['… not listed: key deleted, no row of the daemon', count(ledger.unknowable)],
    ['… … of these, reported as unknown', count(ledger.saidUnknown)],
    ['builds listed that did not die', count(ledger.invented)],
    ['recall of what can be known', percent(ledger.recall)],
    ['recall of all', percent(ledger.recallOfAll)],
    ['precision', percent(ledger.precision)],
  ];
}

const LABELS: Readonly<Record<string, string>> = {
  leaves: 'tasks that have left',
  builds: 'builds',
  killedByUs: 'builds killed by a scale-in or a deployment',
  killedByOthers: 'builds killed by others (Spot, hosts, memory, people)',
  asksRefused: 'drain requests that ECS refused',
  falseRolls: 'tasks rolled for a secret that had not changed',
  worlds: 'worlds',
  heldWorlds: 'worlds that ended with scale-in on hold',
  ticks: 'looks',
  overrides: 'overrides that people set',
  retired: 'pools that were retired',
  secretsChanged: 'keys that people replaced',
  fakeDaemons: 'daemons that claimed a task of others',
  recordFaults: 'records of builds lost, old, wrong or denied',
  messageFaults: 'messages for the next look lost, repeated or late',
};
