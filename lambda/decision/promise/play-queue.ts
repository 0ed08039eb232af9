/**
 * Plays the queues: each daemon that becomes free takes the first job that fits it, as coderd does
 * (docs/internals/coder.md §4). One without a job makes room for a launch that a limit holds back.
 * Computed once for each scenario.
 */
import type { PoolView } from '../supply/supply.ts';
import { type BuildTimes, buildRestOf, factorOf } from './build-times.ts';
import { normalQuantile } from './normal.ts';
import type { Queue, QueuedJob, Server } from './queue.ts';
import { numberOf, SCENARIOS } from './scenarios.ts';
import { type LogTime, restOf } from './start-phase.ts';
import type { StartTimes } from './start-times.ts';

/** When one job starts, in milliseconds from the look, and on which server, in each scenario. */
export type Played = { readonly startsInMs: Float64Array; readonly servers: Int32Array };

/**
 * From a raised count until ECS has created the task: ECS's documents have no number; the simulator
 * assumes this too (lab/world/ecs/parts/latencies.ts).
 */
const CREATES_AFTER_MS = [500, 3_000] as const;

/** Plays all scenarios. The result has one entry for each job of the queue, in its order. */
export function playQueue(queue: Queue): readonly Played[] {
  const played = queue.jobs.map(() => ({
    startsInMs: new Float64Array(SCENARIOS).fill(Number.POSITIVE_INFINITY),
    servers: new Int32Array(SCENARIOS).fill(-1),
  }));
  const dimensions = dimensionsOf(queue);
  for (let scenario = 0; scenario < SCENARIOS; scenario++)
    playScenario(queue, { scenario, dimensions }, (job, server, atMs) => {
      const outcome = played[job];
      if (outcome === undefined) return;
      outcome.startsInMs[scenario] = atMs;
      outcome.servers[scenario] = server;
    });
  return played;
}

/** The dimension of each unknown. Servers come first, then jobs: two numbers for each. */
type Dimensions = {
  readonly ofServer: (server: number) => number;
  readonly ofJob: (job: number) => number;
  readonly ofStarts: ReadonlyMap<StartTimes, number>;
  readonly ofBuilds: ReadonlyMap<BuildTimes, number>;
  /** The tasks of a pool make room together. */
  readonly ofRoom: ReadonlyMap<PoolView, number>;
};

function dimensionsOf({ jobs, servers, mayMakeRoom }: Queue): Dimensions {
  const starts = new Set(servers.flatMap(({ starts: known }) => known ?? []));
  const builds = new Set([...servers.flatMap(buildsOf), ...jobs.flatMap((job) => job.builds ?? [])]);
  const first = starts.size * 4 + builds.size;
  const ofLast = first + (servers.length + jobs.length) * 2;
  return {
    ofStarts: new Map([...starts].map((known, index) => [known, index * 4])),
    ofBuilds: new Map([...builds].map((known, index) => [known, starts.size * 4 + index])),
    ofServer: (server) => first + server * 2,
    ofJob: (job) => first + (servers.length + job) * 2,
    ofRoom: new Map([...mayMakeRoom.keys()].map((view, index) => [view, ofLast + index])),
  };
}

function buildsOf({ ready }: Server): readonly BuildTimes[] {
  return ready.kind === 'busy' && ready.builds !== undefined ? [ready.builds] : [];
}

type At = { readonly scenario: number; readonly dimensions: Dimensions };
/** A server that takes its next job, or has left and so made room for a launch. */
type Free = { readonly atMs: number; readonly server: number; readonly hasLeft?: true };

function playScenario(queue: Queue, at: At, take: (job: number, server: number, atMs: number) => void): void {
  const draws = drawsOf(queue, at);
  const free = queue.servers
    .map((_, server): Free => ({ server, atMs: draws.ready(server) }))
    .filter(({ atMs }) => atMs < Number.POSITIVE_INFINITY)
    .sort(latestFirst);
  const waiting = new WaitingJobs(queue, (job) => numberOf(at.dimensions.ofJob(job) + 1, at.scenario));
  const held = queue.servers
    .flatMap(({ ready }, server) => (ready.kind === 'held' ? [server] : []))
    .reverse();
  const runNext = ({ server, atMs }: Free): Free | undefined => {
    const job = waiting.takeFor(queue.servers[server]?.fits ?? []);
    if (job === undefined) return undefined;
    take(job, server, atMs);
    return { server, atMs: atMs + draws.build(job) };
  };
  const makeRoom = ({ server, atMs, hasLeft }: Free): Free | undefined => {
    if (!hasLeft)
      return held.length > 0 ? { server, atMs: atMs + draws.room(server), hasLeft: true } : undefined;
    const launched = held.pop();
    return launched === undefined ? undefined : { server: launched, atMs: atMs + draws.launch(launched) };
  };
  for (let next = free.pop(); next !== undefined && waiting.size > 0; next = free.pop()) {
    const later = (next.hasLeft ? undefined : runNext(next)) ?? makeRoom(next);
    if (later !== undefined && later.atMs < Number.POSITIVE_INFINITY) insert(free, later);
  }
}

const latestFirst = (a: Free, b: Free): number => b.atMs - a.atMs || b.server - a.server;

function insert(free: Free[], item: Free): void {
  let [low, high] = [0, free.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = free[middle];
    if (other !== undefined && latestFirst(other, item) < 0) low = middle + 1;
    else high = middle;
  }
  free.splice(low, 0, item);
}

/** The waiting jobs of one scenario. Jobs that were submitted at the same time are in any order. */
class WaitingJobs {
  /** The jobs of each class in order, and how many of them have been taken. */
  readonly #classes: { readonly jobs: readonly number[]; taken: number }[] = [];
  readonly #place: readonly number[];
  size: number;

  constructor({ jobs, classes }: Queue, tieOf: (job: number) => number) {
    const inOrder = inTurn(jobs, tieOf).filter((job) => jobs[job]?.leftTo === undefined);
    const places: number[] = [];
    for (const [place, job] of inOrder.entries()) places[job] = place;
    this.#place = places;
    const byClass = Map.groupBy(inOrder, (job) => jobs[job]?.class ?? 0);
    for (let index = 0; index < classes; index++)
      this.#classes.push({ jobs: byClass.get(index) ?? [], taken: 0 });
    this.size = inOrder.length;
  }

  /** Takes the first job of these classes. */
  takeFor(fits: readonly number[]): number | undefined {
    let first: number | undefined;
    let from: { taken: number } | undefined;
    for (const index of fits) {
      const found = this.#classes[index];
      const job = found?.jobs[found.taken];
      if (job === undefined || (first !== undefined && this.#placeOf(job) > this.#placeOf(first))) continue;
      [first, from] = [job, found];
    }
    if (from === undefined) return undefined;
    from.taken++;
    this.size--;
    return first;
  }

  #placeOf(job: number): number {
    return this.#place[job] ?? 0;
  }
}

function inTurn(jobs: readonly QueuedJob[], tieOf: (job: number) => number): readonly number[] {
  const inOrder: number[] = [];
  for (let start = 0; start < jobs.length; ) {
    let end = start + 1;
    while (end < jobs.length && jobs[end]?.turn === jobs[start]?.turn) end++;
    const tied = Array.from({ length: end - start }, (_, index) => start + index);
    inOrder.push(...(tied.length === 1 ? tied : tied.sort((a, b) => tieOf(a) - tieOf(b))));
    start = end;
  }
  return inOrder;
}

type Draws = {
  /** When a server takes its first job; infinite: unknown. */
  readonly ready: (server: number) => number;
  /** How long the build of a pending job takes; infinite: unknown. */
  readonly build: (job: number) => number;
  /** How long after its last job a server has left and made room, and counts it; infinite: it stays. */
  readonly room: (server: number) => number;
  /** How long after its launch a server takes its first job. */
  readonly launch: (server: number) => number;
};

function drawsOf({ jobs, servers, ...queue }: Queue, { scenario, dimensions }: At): Draws {
  const { ofStarts, ofBuilds, ofServer, ofJob, ofRoom } = dimensions;
  const number = (dimension: number): number => numberOf(dimension, scenario);
  const mayMakeRoom = new Map(queue.mayMakeRoom);
  const factors = new Map(
    [...ofBuilds].map(([builds, d]) => [builds, factorOf(builds, normalQuantile(number(d)))]),
  );
  const phases = new Map(
    [...ofStarts].map(([starts, d]) => [
      starts,
      [
        starts.boot.choose(number(d), number(d + 1)),
        starts.register.choose(number(d + 2), number(d + 3)),
      ] as const,
    ]),
  );
  const rest = (builds: BuildTimes | undefined, ageMs: number, drawn: number): number =>
    builds === undefined
      ? Number.POSITIVE_INFINITY
      : buildRestOf(builds, { factor: factors.get(builds) ?? 1, ageMs, number: drawn });
  const launch = (index: number): number => {
    const server = servers[index];
    const chosen = server?.starts && phases.get(server.starts);
    if (server === undefined || chosen === undefined) return Number.POSITIVE_INFINITY;
    return startRest(server, chosen, [number(ofServer(index)), number(ofServer(index) + 1)]);
  };
  return {
    build: (job) => rest(jobs[job]?.builds, 0, number(ofJob(job))),
    launch,
    ready: (index) => {
      const ready = servers[index]?.ready;
      if (ready?.kind === 'free') return 0;
      // the daemons of a tag set look together
      if (ready?.kind === 'polls') return (ready.withinMs * (scenario + 0.5)) / SCENARIOS;
      if (ready === undefined || ready.kind === 'doubtful' || ready.kind === 'held')
        return Number.POSITIVE_INFINITY;
      return ready.kind === 'busy' ? rest(ready.builds, ready.ageMs, number(ofServer(index))) : launch(index);
    },
    room: (index) => {
      const { view, leaves, roomAfterMs } = servers[index] ?? {};
      if (view === undefined || roomAfterMs === undefined) return Number.POSITIVE_INFINITY;
      const more = mayMakeRoom.get(view) ?? 0;
      if (!leaves && more <= 0) return Number.POSITIVE_INFINITY;
      if (!leaves) mayMakeRoom.set(view, more - 1);
      const [least, most] = roomAfterMs;
      return least + (most - least) * number(ofRoom.get(view) ?? 0);
    },
  };
}

function startRest(
  { ready, starts }: Server,
  [boot, register]: readonly [LogTime, LogTime],
  [first, second]: readonly [number, number],
): number {
  if (starts === undefined || ['free', 'polls', 'busy'].includes(ready.kind)) return Number.POSITIVE_INFINITY;
  if (ready.kind === 'registering') return restOf(starts.register, register, ready.ageMs, first);
  const registerMs = restOf(starts.register, register, 0, second);
  if (ready.kind === 'booting') return restOf(starts.boot, boot, ready.ageMs, first) + registerMs;
  const [least, most] = CREATES_AFTER_MS;
  return least + (most - least) * ((first + second) % 1) + restOf(starts.boot, boot, 0, first) + registerMs;
}
