/** Plans outages, lost hosts, changes by people in the console, deployments, tasks out of memory. */
import { spotPartOf } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import type { FleetPool } from '../world/fleet.ts';
import { INCIDENTS, type Incident, partsOf, timesSource } from '../world/plan.ts';
import { spreadMs, type WorldEvents } from '../world/world-events.ts';
import { ageHeartbeats, failLists, hideService, PULL_FAILURE } from './partial-sight.ts';

/** Of a drain request (docs/internals/architecture.md, "The lease"); here to any running task. */
const ASK_MINUTES = 1380;
const NO_CAPACITY =
  'Capacity is unavailable at this time. Please try again later or in a different availability zone.';

export function planIncidents(events: WorldEvents): void {
  const { world, plan } = events;
  for (const number of new Set(INCIDENTS.map(timesSource)))
    planIncidentsOf(events, events.source(number), (incident) => timesSource(incident) === number);
  world.ecs.agentFaults = plan.agent;
  events.atEnd(() => {
    world.ecs.agentFaults = { failing: 0, losing: 0 };
  });
}

function planIncidentsOf(
  events: WorldEvents,
  random: Random,
  isIncluded: (incident: Incident) => boolean,
): void {
  const outages = new Outages(events, random);
  const carriedOut = incidentsOf(events, random, outages);
  for (const incident of INCIDENTS.filter(isIncluded))
    events.repeat(random, events.plan.incidents[incident] ?? 0, () => {
      const description = carriedOut[incident]();
      if (description !== undefined) events.print(`${incident}: ${description}`);
    });
  events.atEnd(() => outages.end());
}

/** The kernel kills the whole container, or the daemon alone. */
export function planOutOfMemory(events: WorldEvents): void {
  const { world, plan, print } = events;
  const random = events.source(21);
  events.repeat(random, plan.outOfMemoryAnHour, () => {
    const id = events.runningTask(random)?.identity.id;
    const isWhole = random.next() < 0.5;
    print(`out of memory: ${id ?? 'no task'}`);
    if (id === undefined) return;
    const isAlone = !isWhole && world.guard(id)?.daemon !== undefined;
    world.ecs.outOfMemory(id, isAlone ? () => events.crash(id) : undefined);
  });
}

/** Notes that a person has set the count of one of the pool's services. */
export function noteCountByHand({ world, fleet, countsByHand }: WorldEvents, pool: string): void {
  const counts = fleet.pools.map((it) => ({
    name: it.name,
    tasks: sum(
      partsOf(it).map((part) => world.service(part)),
      ({ state, uncounted }) => state.desiredCount + uncounted,
    ),
  }));
  const tasks = counts.find(({ name }) => name === pool)?.tasks ?? 0;
  const allTasks = sum(counts, (it) => it.tasks);
  countsByHand.push({ pool, at: world.timeline.now(), tasks, allTasks });
}

/** Carries out an incident. Returns what it did; undefined if there was nothing to do it to. */
type CarryOut = () => string | undefined;

function incidentsOf(
  events: WorldEvents,
  random: Random,
  outages: Outages,
): Readonly<Record<Incident, CarryOut>> {
  const { world, fleet } = events;
  const { ecs } = world;
  const toTask = (act: (id: string) => void): string | undefined => {
    const id = events.runningTask(random)?.identity.id;
    if (id !== undefined) act(id);
    return id;
  };
  const toPool = (act: (pool: FleetPool) => string | undefined): string | undefined => {
    const pool = random.pick(fleet.pools);
    return pool && (act(pool) ?? pool.name);
  };
  // the service of the pool, or one of its two
  const toService = (act: (part: string, pool: FleetPool) => string | undefined): string | undefined =>
    toPool((pool) => {
      const isOnSpot = pool.capacity !== undefined && random.next() < 0.5;
      return act(isOnSpot ? spotPartOf(pool.name) : pool.name, pool);
    });
  const deploy = () =>
    toService((name) => {
      if (!world.service(name).admitsDeployment) return `${name}: refused`;
      world.deploy(name);
      return undefined;
    });
  return {
    'spot interruption': () => toTask((id) => ecs.spotInterruption(id)),
    'host failure': () => toTask((id) => ecs.hostFailure(id)),
    retirement: () => {
      const code = random.next() < 0.5 ? 'TerminationNotice' : 'ServiceSchedulerInitiated';
      return toTask((id) => ecs.retireHost(id, code));
    },
    StopTask: () => toTask((id) => ecs.stopTask(id)),
    'daemon crash': () => toTask((id) => events.crash(id)),
    deployment: deploy,
    'deployments in a row': deploy,
    'agents down': () => outages.agents(),
    'key deleted': () => toPool(({ name }) => outages.key(name)),
    'count set by hand': () =>
      toService((name, { max, name: pool }) => {
        const count = random.next() < 0.3 ? 0 : random.whole(0, max + 2);
        ecs.setDesiredCount(world.service(name).identity.name, count);
        noteCountByHand(events, pool);
        return `${name} to ${count}`;
      }),
    'ask by hand': () => toTask((id) => ecs.protect(id, ASK_MINUTES)),
    'protection disabled by hand': () => toTask((id) => ecs.disableByHand(id)),
    'starts failing': () => toService((name) => outages.starts(name)),
    'coderd down': () => outages.coderd(),
    'no capacity': () => toService((name) => outages.placement(name, true)),
    'no capacity and no event': () => toService((name) => outages.placement(name, false)),
    'connections forgotten': () => {
      events.forgottenCalls = random.whole(1, 12);
      return `${events.forgottenCalls} calls`;
    },
    'row unreadable': () => unreadableRow(events, random),
    'tasks freezing': () => freezingTasks(events, random),
    'license lost': () => lostLicense(events, random),
    'service without a row': () => toService((part) => hideService(events, random, part)),
    'lists failing': () => toPool(({ name }) => failLists(events, random, name) ?? `${name}: has no key`),
    'heartbeats old': () => ageHeartbeats(events, random),
  };
}

/** Of a task, or of a running job or its daemon. */
function unreadableRow(events: WorldEvents, random: Random): string | undefined {
  const { coderd, ecs } = events.world;
  const job = random.pick(coderd.jobs().filter(({ status }) => status === 'running'));
  const rows = [
    { id: events.runningTask(random)?.identity.id, in: ecs.unreadable },
    { id: job?.id, in: coderd.unreadable },
    { id: job?.workerId, in: coderd.unreadable },
  ];
  const row = random.pick(rows);
  const ms = spreadMs(random, 10 * SECOND_MS, 30 * MINUTE_MS);
  if (row?.id === undefined) return undefined;
  const { id } = row;
  row.in.add(id);
  const end = (): void => void row.in.delete(id);
  events.world.timeline.after(ms, end);
  events.atEnd(end);
  return `${id} for ${Math.round(ms / SECOND_MS)} s`;
}

/** A share of the tasks that start now, for a time. */
function freezingTasks(events: WorldEvents, random: Random): string {
  const { ecs } = events.world;
  const end = (): void => {
    ecs.freezing = 0;
  };
  ecs.freezing = random.pick([0.02, 0.2, 1]) ?? 1;
  const ms = spreadMs(random, MINUTE_MS, 30 * MINUTE_MS);
  events.world.timeline.after(ms, end);
  events.atEnd(end);
  return `${ecs.freezing} of them for ${Math.round(ms / SECOND_MS)} s`;
}

/** coderd refuses daemons for a time, and may not say that it is for want of a license. */
function lostLicense(events: WorldEvents, random: Random): string {
  const { coderd, timeline } = events.world;
  const end = (): void => {
    coderd.licence = 'entitled';
  };
  coderd.licence = random.pick(['not_entitled', 'open-source'] as const) ?? 'not_entitled';
  const ms = spreadMs(random, 30 * SECOND_MS, 30 * MINUTE_MS);
  timeline.after(ms, end);
  events.atEnd(end);
  return `${coderd.licence} for ${Math.round(ms / SECOND_MS)} s`;
}

/** The outages. Each ends after a while, and all end with the events. */
class Outages {
  readonly #events: WorldEvents;
  readonly #random: Random;
  /** What ends each outage in progress, by pool. */
  readonly #open = new Map<string, () => void>();

  constructor(events: WorldEvents, random: Random) {
    this.#events = events;
    this.#random = random;
  }

  end(): void {
    for (const outage of [...this.#open.keys()]) this.#end(outage);
  }

  agents(): string | undefined {
    const { ecs } = this.#events.world;
    if (ecs.agentsDown) return undefined;
    ecs.agentsDown = true;
    return this.#begin('agents', '', [MINUTE_MS, 9 * HOUR_MS], () => {
      ecs.agentsDown = false;
    });
  }

  coderd(): string {
    this.#events.isCoderdDown = true;
    return this.#begin('coderd', '', [20 * SECOND_MS, 30 * MINUTE_MS], () => {
      this.#events.isCoderdDown = false;
    });
  }

  key(pool: string): undefined {
    const { world } = this.#events;
    if (this.#open.has(`key ${pool}`) || world.keyId(pool) === undefined) return;
    world.deleteKey(pool);
    this.#begin('key', pool, [10 * SECOND_MS, 90 * MINUTE_MS], () => world.renewKey(pool));
  }

  starts(pool: string): undefined {
    const { world } = this.#events;
    const fail = (reason?: string): void => world.ecs.failStarts(world.service(pool).identity.name, reason);
    fail(PULL_FAILURE);
    this.#begin('starts', pool, [MINUTE_MS, 30 * MINUTE_MS], fail);
  }

  placement(pool: string, tellsEvents: boolean): undefined {
    const { world } = this.#events;
    const fail = (isTold: boolean, reason?: string): void => {
      const service = world.service(pool);
      service.tellsEvents = isTold;
      world.ecs.failPlacement(service.identity.name, reason);
    };
    fail(tellsEvents, NO_CAPACITY);
    this.#begin('placement', pool, [MINUTE_MS, 90 * MINUTE_MS], () => fail(true));
  }

  #begin(
    kind: string,
    pool: string,
    range: readonly [fromMs: number, toMs: number],
    end: () => void,
  ): string {
    this.#open.set(`${kind} ${pool}`, end);
    const ms = spreadMs(this.#random, ...range);
    this.#events.world.timeline.after(ms, () => this.#end(`${kind} ${pool}`));
    return `for ${Math.round(ms / SECOND_MS)} s`;
  }

  /** Does nothing if the outage has ended: an earlier one of the same pool ends a later one. */
  #end(outage: string): void {
    const end = this.#open.get(outage);
    this.#open.delete(outage);
    end?.();
  }
}
