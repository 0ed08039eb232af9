/** The figures of a simulation: those of all its worlds together. */
import Table from 'cli-table3';
import { percentile } from '../../simulator/base/percentile.ts';
import type { WorldResult } from './run-world.ts';

export type Figures = {
  /** Tasks that were asked to leave, or drained by themselves, and are gone. */
  readonly leaves: number;
  /** Builds that a daemon began. */
  readonly builds: number;
  /** By a scale-in or a deployment. */
  readonly killedByUs: number;
  /** By Spot, hosts, StopTask, or a protection that a person took away. */
  readonly killedByOthers: number;
  /** Asks that ECS refused. */
  readonly asksRefused: number;
  /** From the last moment that a daemon had something to do until its task was gone. */
  readonly idleToGoneSeconds: { readonly p50: number; readonly p95: number };
  readonly worlds: number;
  /** Worlds at whose end scale-in was held, and reported: coderd listed no daemon although tasks held leases. */
  readonly heldWorlds: number;
  readonly ticks: number;
  /** Set by people. */
  readonly overrides: number;
  /** Pools. */
  readonly retired: number;
  readonly seed: number;
  readonly seconds: number;
};

/** Sums up. `seconds` is how long it took. */
export function sumUp(
  results: readonly WorldResult[],
  { seed, seconds }: { seed: number; seconds: number },
): Figures {
  const total = (of: (result: WorldResult) => number): number => results.reduce((sum, it) => sum + of(it), 0);
  const waits = results.flatMap(({ idleToGoneSeconds }) => idleToGoneSeconds).sort((a, b) => a - b);
  return {
    leaves: total(({ leaves }) => leaves),
    builds: total(({ builds }) => builds),
    killedByUs: total(({ killedByUs }) => killedByUs),
    killedByOthers: total(({ killedByOthers }) => killedByOthers),
    asksRefused: total(({ asksRefused }) => asksRefused),
    idleToGoneSeconds: {
      p50: Math.round(percentile(waits, 0.5)),
      p95: Math.round(percentile(waits, 0.95)),
    },
    worlds: results.length,
    heldWorlds: results.filter(({ isHeld }) => isHeld).length,
    ticks: total(({ ticks }) => ticks),
    overrides: total(({ overrides }) => overrides),
    retired: total(({ retired }) => retired),
    seed,
    seconds,
  };
}

/** For people. */
export function tableOf(figures: Figures): string {
  const { idleToGoneSeconds, ...rest } = figures;
  const table = new Table({ style: { head: [], border: [] }, colAligns: ['left', 'right'] });
  const { seed, seconds, ...counts } = rest;
  table.push(
    ...Object.entries(counts).map(([name, count]) => [LABELS[name] ?? name, count.toLocaleString('en')]),
    ['from idle to gone, p50', `${idleToGoneSeconds.p50} s`],
    ['from idle to gone, p95', `${idleToGoneSeconds.p95} s`],
    ['seed', seed],
    ['took', `${seconds} s`],
  );
  return table.toString();
}

const LABELS: Readonly<Record<string, string>> = {
  leaves: 'tasks that have left',
  builds: 'builds',
  killedByUs: 'builds killed by us',
  killedByOthers: 'builds killed by others (Spot, hosts, people)',
  asksRefused: 'asks that ECS refused',
  worlds: 'worlds',
  heldWorlds: 'worlds held for doubt at the end',
  ticks: 'ticks',
  overrides: 'overrides that people set',
  retired: 'pools that were retired',
};
