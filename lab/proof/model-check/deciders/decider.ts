/** Computes the calls of a look from its readings with the product's own `decide`, and caches them. */
import { decide } from '../../../../lambda/decision/decide.ts';
import type { Config } from '../../../../lambda/decision/model/config.ts';
import type { Action } from '../../../../lambda/decision/model/plan.ts';
import type { Snapshot } from '../../../../lambda/decision/model/snapshot.ts';
import { arnOf, type CoderReadings, type EcsReadings, snapshotOf } from './view.ts';

export type Write =
  | { readonly kind: 'set'; readonly desired: number }
  /** Slots of the tasks that get a drain request. */
  | { readonly kind: 'ask'; readonly slots: readonly number[] };

export type Decide = (snapshot: Snapshot, config: Config) => readonly Action[];

/** What a look reads of one pool. */
export type Readings = { readonly ecs: EcsReadings; readonly coder: CoderReadings };

/** How a look sees what it has read, and decides on it. A mutant does one of them wrongly. */
export type LookRules = { readonly see: (read: Readings) => Readings; readonly decide: Decide };

export const PRODUCT: LookRules = {
  see: (read) => read,
  decide: (snapshot, config) => decide(snapshot, config).actions,
};

/** Every list of writes that a look may make. Which of two identical tasks is asked first is chance. */
export type Decider = (ecs: EcsReadings, coder: CoderReadings) => readonly (readonly Write[])[];

/** A decider for a configuration. It caches its decisions. */
export function deciderOf(config: Config, look: LookRules): Decider {
  const known = new Map<string, readonly (readonly Write[])[]>();
  return (ecs, coder) => {
    const key = readingsKey(ecs, coder);
    const found = known.get(key);
    if (found !== undefined) return found;
    const seen = look.see({ ecs, coder });
    const lists = namings(ecs).map((names) =>
      writesOf(look.decide(snapshotOf(seen.ecs, seen.coder, names), config), names),
    );
    const decided = [...new Map(lists.map((list) => [JSON.stringify(list), list])).values()];
    known.set(key, decided);
    return decided;
  };
}

export function ordersOf(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return ordersOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
  );
}

/** With more tasks than this, only rotations are tried: each task is first once, and last once. */
const ALL_ORDERS_OF = 4;

/** Names for all slots, in each order of the tasks that exist. */
function namings({ tasks }: EcsReadings): readonly (readonly number[])[] {
  const there = [...tasks.keys()].filter((slot) => tasks[slot] !== undefined);
  const orders = there.length <= ALL_ORDERS_OF ? ordersOf(there.length) : rotationsOf(there.length);
  return orders.map((order) =>
    tasks.map((task, slot) =>
      task === undefined ? tasks.length + slot : (order[there.indexOf(slot)] ?? slot),
    ),
  );
}

function rotationsOf(count: number): readonly (readonly number[])[] {
  const all = Array.from({ length: count }, (_, at) => at);
  return all.map((by) => all.map((at) => (at + by) % count));
}

const ROWS = { none: 0, live: 1, offline: 2 } as const;
const LEASES = { none: 0, ask: 1, lease: 2 } as const;

export function ecsKey({ tasks, desired, isDeploying, isUnplaced }: EcsReadings): string {
  const slots = tasks.map((task) =>
    task === undefined
      ? '-'
      : `${task.revision[0]}${task.isRunning ? 'r' : 'p'}${LEASES[task.protection]}${task.isYoung ? 'y' : ''}`,
  );
  return `${slots} ${desired}${isDeploying ? 'd' : ''}${isUnplaced ? 'u' : ''}`;
}

export function coderKey({ daemons, pending }: CoderReadings): string {
  return `${daemons.map(({ row, hasJob }) => `${ROWS[row]}${hasJob ? 'j' : ''}`)} ${pending}`;
}

function readingsKey(ecs: EcsReadings, coder: CoderReadings): string {
  return `${ecsKey(ecs)}|${coderKey(coder)}`;
}

/** The product's calls for these actions: raises, one call for all drain requests, then lower counts. */
export function writesOf(actions: readonly Action[], names: readonly number[]): readonly Write[] {
  const slotOf = new Map(names.map((name, slot) => [arnOf(name), slot]));
  const asks = actions.flatMap((action) =>
    action.kind === 'ask-to-leave' ? [slotOf.get(action.task) ?? -1] : [],
  );
  const sets = actions.flatMap((action) => (action.kind === 'set-desired' ? [action] : []));
  const setAll = (isRaise: boolean): readonly Write[] =>
    sets
      .filter(({ from, to }) => to > from === isRaise)
      .map(({ to }) => ({ kind: 'set', desired: to }) as const);
  const ask: readonly Write[] = asks.length === 0 ? [] : [{ kind: 'ask', slots: asks.toSorted() }];
  return [...setAll(true), ...ask, ...setAll(false)];
}
