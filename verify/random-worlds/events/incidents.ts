/**
 * Plans the faults of a random world: outages, AWS reclaiming hosts, changes by people in the
 * console, deployments.
 */
import type { EpochMs, JobId } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import type { EcsTask } from '../../../simulator/ecs/task.ts';
import { INCIDENTS, type Incident } from '../world/plan.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

export type PlannedIncidents = {
  /** Whether coderd is down. */
  readonly isCoderdDown: () => boolean;
  /** The jobs of daemons that crashed. */
  readonly crashes: () => readonly Crash[];
  /** Ends all outages, and plans no further incident. */
  readonly end: () => void;
};

/** A job whose daemon crashed. */
export type Crash = { readonly job: JobId; readonly taskId: string; readonly at: EpochMs };

/**
 * The protection of a drain request (docs/internals/architecture.md, "The lease"). It is sent to
 * any running task.
 */
const ASK_MINUTES = 1380;
const NO_CAPACITY =
  'Capacity is unavailable at this time. Please try again later or in a different availability zone.';
const PULL_FAILURE = 'CannotPullContainerError: pull image manifest has been retried 7 time(s)';

/** Plans all incidents of a world on its timeline. */
export function planIncidents(context: WorldContext): PlannedIncidents {
  const { world, plan, random, print } = context;
  const incidents = new IncidentRunner(context);
  let isOver = false;
  const planNext = (incident: Incident, perHour: number): void => {
    world.timeline.after(untilNextMs(random, perHour), () => {
      if (isOver) return;
      const description = incidents.happen(incident);
      if (description !== undefined) print(`${incident}: ${description}`);
      planNext(incident, perHour);
    });
  };
  for (const incident of INCIDENTS) {
    const perHour = plan.incidents[incident];
    if (perHour !== undefined) planNext(incident, perHour);
  }
  world.ecs.agentFaults = plan.agent;
  return {
    isCoderdDown: () => incidents.isCoderdDown,
    crashes: () => incidents.crashes,
    end: () => {
      isOver = true;
      incidents.end();
    },
  };
}

class IncidentRunner {
  isCoderdDown = false;
  readonly crashes: Crash[] = [];
  readonly #context: WorldContext;
  readonly #withoutKey = new Set<string>();
  readonly #notStarting = new Set<string>();
  readonly #notPlaced = new Set<string>();

  constructor(context: WorldContext) {
    this.#context = context;
  }

  /** Carries out an incident. Returns what it did; undefined if there was nothing to do it to. */
  happen(incident: Incident): string | undefined {
    const { world } = this.#context;
    switch (incident) {
      case 'spot interruption':
        return this.#toTask((id) => world.ecs.spotInterruption(id));
      case 'host failure':
        return this.#toTask((id) => world.ecs.hostFailure(id));
      case 'retirement':
        return this.#retire();
      case 'StopTask':
        return this.#toTask((id) => world.ecs.stopTask(id));
      case 'daemon crash':
        return this.#toTask((id) => this.#crash(id));
      case 'deployment':
        return this.#deploy();
      case 'agents down':
        return this.#agentsDown();
      case 'key deleted':
        return this.#toPool((pool) => this.#deleteKey(pool));
      case 'count set by hand':
        return this.#setCount();
      case 'ask by hand':
        return this.#toTask((id) => world.ecs.protect(id, ASK_MINUTES));
      case 'protection disabled by hand':
        return this.#toTask((id) => world.ecs.disableByHand(id));
      case 'starts failing':
        return this.#toPool((pool) => this.#failStarts(pool));
      case 'coderd down':
        return this.#coderdDown();
      case 'no capacity':
        return this.#toPool((pool) => this.#useUpCapacity(pool, { tellsEvents: true }));
      case 'no capacity and no event':
        return this.#toPool((pool) => this.#useUpCapacity(pool, { tellsEvents: false }));
      default:
        return incident satisfies never;
    }
  }

  end(): void {
    const { world } = this.#context;
    this.#agentsUp();
    world.ecs.agentFaults = { failing: 0, losing: 0 };
    this.isCoderdDown = false;
    for (const pool of [...this.#withoutKey]) this.#renewKey(pool);
    for (const pool of [...this.#notStarting]) this.#start(pool);
    for (const pool of [...this.#notPlaced]) this.#place(pool);
  }

  #toTask(act: (id: string, task: EcsTask) => void): string | undefined {
    const { world, random } = this.#context;
    const running = world.ecs.tasks().filter(({ state }) => state.lastStatus === 'RUNNING');
    const task = random.pick(running);
    if (task === undefined) return undefined;
    act(task.identity.id, task);
    return task.identity.id;
  }

  #toPool(act: (pool: string) => void): string | undefined {
    const { fleet, random } = this.#context;
    const pool = random.pick(fleet.pools);
    if (pool === undefined) return undefined;
    act(pool.name);
    return pool.name;
  }

  #deploy(): string | undefined {
    const { world, fleet, random } = this.#context;
    const pool = random.pick(fleet.pools)?.name;
    if (pool === undefined) return undefined;
    if (!world.service(pool).admitsDeployment) return `${pool}: refused`;
    world.deploy(pool);
    return pool;
  }

  #later(fromMs: number, toMs: number, run: () => void): string {
    const { world, random } = this.#context;
    // Log-uniform: short and long outages are equally likely.
    const ms = Math.round(fromMs * (toMs / fromMs) ** random.next());
    world.timeline.after(ms, run);
    return `for ${Math.round(ms / SECOND_MS)} s`;
  }

  #retire(): string | undefined {
    const { world, random } = this.#context;
    const code = random.next() < 0.5 ? 'TerminationNotice' : 'ServiceSchedulerInitiated';
    return this.#toTask((id) => world.ecs.retireHost(id, code));
  }

  #crash(id: string): void {
    const { world } = this.#context;
    const job = world.guard(id)?.daemon?.crash(137);
    if (job !== undefined) this.crashes.push({ job: job.id, taskId: id, at: world.timeline.now() });
  }

  #agentsDown(): string | undefined {
    const { ecs } = this.#context.world;
    if (ecs.agentsDown) return undefined;
    ecs.agentsDown = true;
    return this.#later(MINUTE_MS, 9 * HOUR_MS, () => this.#agentsUp());
  }

  #agentsUp(): void {
    this.#context.world.ecs.agentsDown = false;
  }

  #deleteKey(pool: string): void {
    if (this.#withoutKey.has(pool)) return;
    this.#context.world.deleteKey(pool);
    this.#withoutKey.add(pool);
    this.#later(10 * SECOND_MS, 90 * MINUTE_MS, () => this.#renewKey(pool));
  }

  #renewKey(pool: string): void {
    if (this.#withoutKey.delete(pool)) this.#context.world.renewKey(pool);
  }

  #setCount(): string | undefined {
    const { world, fleet, random } = this.#context;
    const pool = random.pick(fleet.pools);
    if (pool === undefined) return undefined;
    const count = random.next() < 0.3 ? 0 : random.whole(0, pool.max + 2);
    world.ecs.setDesiredCount(world.service(pool.name).identity.name, count);
    return `${pool.name} to ${count}`;
  }

  #failStarts(pool: string): void {
    const { ecs } = this.#context.world;
    ecs.failStarts(this.#context.world.service(pool).identity.name, PULL_FAILURE);
    this.#notStarting.add(pool);
    this.#later(MINUTE_MS, 30 * MINUTE_MS, () => this.#start(pool));
  }

  #start(pool: string): void {
    const { world } = this.#context;
    if (this.#notStarting.delete(pool)) world.ecs.failStarts(world.service(pool).identity.name);
  }

  #useUpCapacity(pool: string, { tellsEvents }: { readonly tellsEvents: boolean }): void {
    const { world } = this.#context;
    const service = world.service(pool);
    service.tellsEvents = tellsEvents;
    world.ecs.failPlacement(service.identity.name, NO_CAPACITY);
    this.#notPlaced.add(pool);
    this.#later(MINUTE_MS, 90 * MINUTE_MS, () => this.#place(pool));
  }

  #place(pool: string): void {
    const { world } = this.#context;
    if (!this.#notPlaced.delete(pool)) return;
    const service = world.service(pool);
    service.tellsEvents = true;
    world.ecs.failPlacement(service.identity.name);
  }

  #coderdDown(): string {
    this.isCoderdDown = true;
    return this.#later(20 * SECOND_MS, 30 * MINUTE_MS, () => {
      this.isCoderdDown = false;
    });
  }
}
