/**
 * What looks cannot see, or see wrongly: a service without a row, lists that fail, also while starts fail, heartbeats
 * that look old. The twin of a world (`WorldPlan.hasWholeSight`) has the same events without these.
 */
import { poolOfPart } from '../../../../lambda/decision/model/brands.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import { spreadMs, type WorldEvents } from '../world/world-events.ts';

export const PULL_FAILURE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

/** The lists that fail together, by the operations of ECS and the paths of coderd that give them. */
const LISTS = {
  tasks: { ecs: 'ListTasks' },
  'descriptions of tasks': { ecs: 'DescribeTasks' },
  services: { ecs: 'DescribeServices' },
  daemons: { coderd: 'provisionerdaemons' },
} as const satisfies Readonly<Record<string, { readonly ecs?: string; readonly coderd?: string }>>;

type List = keyof typeof LISTS;

const FAILING_LISTS: readonly (readonly List[])[] = [
  ['tasks'],
  ['descriptions of tasks'],
  ['services'],
  ['daemons'],
  ['tasks', 'daemons'],
];

type Outages = readonly { readonly everyMs: number; readonly forMs: number }[];

/** How often a list fails, and for how long each time: in few looks. */
const BRIEF: Outages = [
  { everyMs: 10 * MINUTE_MS, forMs: 15 * SECOND_MS },
  { everyMs: 150 * SECOND_MS, forMs: 12 * SECOND_MS },
];
/** In every other look too, or for a while. */
const ALL: Outages = [
  ...BRIEF,
  { everyMs: MINUTE_MS, forMs: 30 * SECOND_MS },
  { everyMs: 40 * MINUTE_MS, forMs: 15 * MINUTE_MS },
];

/** The rows lack what their readers need, or AWS's lists lack the service. */
export function hideService(events: WorldEvents, random: Random, part: string): string {
  const { ecs } = events.world;
  const { name } = events.world.service(part).identity;
  const kind = random.pick(['unreadable', 'unlisted'] as const) ?? 'unreadable';
  const ms = spreadMs(random, 10 * SECOND_MS, 30 * MINUTE_MS);
  const hide = (isHidden: boolean): void => {
    switchIn(ecs[kind], name, isHidden);
    if (part === poolOfPart(part))
      events.fleet.setHidden(part, ecs.unreadable.has(name) || ecs.unlisted.has(name));
  };
  sightFault(events, ms, { begin: () => hide(true), end: () => hide(false) });
  return `${part} is ${kind} for ${Math.round(ms / SECOND_MS)} s`;
}

/** Lists fail for a time, mostly while starts of a pool fail: its key is deleted, or its image cannot be pulled. */
export function failLists(events: WorldEvents, random: Random, pool: string): string | undefined {
  const { world } = events;
  const { ecs, timeline } = world;
  const cause = random.pick(['key deleted', 'no image', 'starts succeed'] as const);
  const lists = random.pick(FAILING_LISTS) ?? [];
  const outages = events.plan.outages === 'brief' ? BRIEF : ALL;
  const { everyMs, forMs } = random.pick(outages) ?? { everyMs: MINUTE_MS, forMs: 0 };
  const ms = spreadMs(random, 5 * MINUTE_MS, 60 * MINUTE_MS);
  const firstMs = random.whole(0, everyMs - forMs);
  if (cause === 'key deleted' && world.keyId(pool) === undefined) return undefined;
  const { name } = world.service(pool).identity;
  if (cause === 'key deleted') world.deleteKey(pool);
  if (cause === 'no image') ecs.failStarts(name, PULL_FAILURE);
  lasting(events, ms, () => {
    if (cause === 'key deleted') world.renewKey(pool);
    if (cause === 'no image') ecs.failStarts(name);
  });
  const fail = (isFailing: boolean): void => setFailing(events, lists, isFailing);
  for (let atMs = firstMs; atMs < ms; atMs += everyMs)
    timeline.after(atMs, () => {
      if (!events.isOver)
        sightFault(events, Math.min(forMs, ms - atMs), { begin: () => fail(true), end: () => fail(false) });
    });
  return `${pool}: ${cause} for ${Math.round(ms / SECOND_MS)} s; no ${lists.join(' and ')} for ${forMs / SECOND_MS} s in ${everyMs / SECOND_MS} s`;
}

/** Replicas of coderd have unlike clocks, or coderd's database takes no heartbeat. */
export function ageHeartbeats(events: WorldEvents, random: Random): string {
  const { coderd } = events.world;
  const kind = random.pick(['behind', 'dates ahead', 'unwritten'] as const) ?? 'behind';
  const ageMs = random.whole(30, 60) * SECOND_MS;
  const share = random.pick([0.5, 1]) ?? 1;
  const ms = spreadMs(random, 2 * MINUTE_MS, 30 * MINUTE_MS);
  const behind = new Map<string, boolean>();
  const isBehind = (daemon: string): boolean => {
    const known = behind.get(daemon) ?? random.next() < share;
    behind.set(daemon, known);
    return known;
  };
  sightFault(events, ms, {
    begin: () => {
      if (kind === 'unwritten') coderd.heartbeatAgeMs = () => undefined;
      else if (kind === 'behind') coderd.heartbeatAgeMs = (daemon) => (isBehind(daemon) ? ageMs : 0);
      else coderd.dateAheadMs = () => (random.next() < share ? ageMs : 0);
    },
    end: () => {
      coderd.heartbeatAgeMs = () => 0;
      coderd.dateAheadMs = () => 0;
    },
  });
  return `${kind} by ${ageMs / SECOND_MS} s, ${share} of them, for ${Math.round(ms / SECOND_MS)} s`;
}

function setFailing({ world }: WorldEvents, lists: readonly List[], isFailing: boolean): void {
  for (const list of lists) {
    const of: { readonly ecs?: string; readonly coderd?: string } = LISTS[list];
    if (of.ecs !== undefined) switchIn(world.ecs.failing, of.ecs, isFailing);
    if (of.coderd !== undefined) switchIn(world.coderd.failing, of.coderd, isFailing);
  }
}

function switchIn(set: Set<string>, name: string, isOn: boolean): void {
  if (isOn) set.add(name);
  else set.delete(name);
}

type Switch = { readonly begin: () => void; readonly end: () => void };

/** A fault of what looks see, for `ms`. The twin of the world does not have it. */
function sightFault(events: WorldEvents, ms: number, { begin, end }: Switch): void {
  if (events.plan.hasWholeSight) return;
  events.counts.sightFaults += 1;
  const from = events.world.timeline.now();
  events.blindSpans.push({ from, to: from + ms });
  begin();
  lasting(events, ms, end);
}

/** Ends it after `ms`, or with all events. */
function lasting(events: WorldEvents, ms: number, end: () => void): void {
  let isOver = false;
  const endOnce = (): void => {
    if (!isOver) end();
    isOver = true;
  };
  events.world.timeline.after(ms, endOnce);
  events.atEnd(endOnce);
}
