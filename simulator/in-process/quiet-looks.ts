/**
 * Which looks would change nothing: after one without actions, while no job waits, no task moves and nothing changes
 * in coderd, as long as the decision on the same snapshot does nothing at the end of each minute either. What a
 * process remembers goes on, as if it had looked.
 */
import { deliberate } from '../../lambda/decision/decide.ts';
import { isMoving } from '../../lambda/decision/look-again.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Plan } from '../../lambda/decision/model/plan.ts';
import type { LearnedStock, OrganizationReadings, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../../lambda/decision/model/units.ts';
import type { StockSet } from '../../lambda/decision/stock/stock-groups.ts';
import type { Outcome } from '../../lambda/look/apply.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import type { WaitRecord } from '../../lambda/look/wait-record.ts';
import { HEARTBEAT_MS } from '../coderd/tables/daemons.ts';
import type { World } from '../world.ts';

/** The longest time without a look: a list of workspaces does not get old. */
const LONGEST_MS = 10 * MINUTE_MS;
/** ECS lists a stopped task, and coderd an offline daemon, for so long (docs/internals/aws.md §2). */
const LISTED_MS = HOUR_MS;
/** A task is launched longer before a transition is due. */
const CHECK_MS = 2 * MINUTE_MS;
const NOTHING: Outcome = { applied: [], refused: [], failures: [] };

type Quiet = {
  readonly snapshot: Snapshot;
  readonly config: Config;
  /** From each look to the next. */
  readonly everyMs: number;
  /** There is a look after this time. */
  readonly until: number;
  /** The changes of coderd until the last look. */
  readonly changes: number;
  readonly learned: string;
  /** No look up to this time does anything. */
  checkedTo: EpochMs;
  stockSets: readonly StockSet[];
};

type Remembered = { readonly stock: StockLearner; readonly waits: WaitRecord };

export class QuietLooks {
  readonly #world: World;
  readonly #remembered: Remembered;
  #quiet: Quiet | undefined;

  /** `remembered`: what the process remembers. */
  constructor(world: World, remembered: Remembered) {
    this.#world = world;
    this.#remembered = remembered;
  }

  /** Call it after each look. */
  after({ snapshot, plan, failures }: LookResult, config: Config): void {
    this.#quiet = undefined;
    if (failures.length > 0 || !isQuiet(plan)) return;
    const { takenAt } = snapshot;
    const learned = this.#remembered.stock.learned();
    this.#quiet = {
      snapshot: { ...snapshot, stock: learned },
      config,
      everyMs: plan.lookAgainAfterMs,
      until: Math.min(takenAt + LONGEST_MS, ...endsOfLists(snapshot)),
      changes: this.#world.coderd.changes,
      learned: stampOf(learned),
      checkedTo: takenAt,
      stockSets: [],
    };
  }

  /** Leaves out the look of this time. Returns the delay of the next one. Undefined: it has to look. */
  leaveOut(now: EpochMs): number | undefined {
    const quiet = this.#quiet;
    if (quiet === undefined || now > quiet.until || this.#world.coderd.changes !== quiet.changes)
      return undefined;
    if (now > quiet.checkedTo && !isQuietLater(quiet)) return undefined;
    const { stock, waits } = this.#remembered;
    // as coderd's header has it
    const takenAt = (Math.round(now / 1000) * 1000) as EpochMs;
    const snapshot = { ...quiet.snapshot, takenAt };
    stock.learn(quiet.stockSets, snapshot);
    waits.after({ snapshot, outcome: NOTHING }, 0);
    if (stampOf(stock.learned()) !== quiet.learned) this.#quiet = undefined;
    return quiet.everyMs;
  }
}

/** Decides for the next two minutes. */
function isQuietLater(quiet: Quiet): boolean {
  const { snapshot, config, everyMs } = quiet;
  const at = plusMs(quiet.checkedTo, CHECK_MS);
  const { plan, stockSets } = deliberate(laterBy(at - snapshot.takenAt, snapshot), config);
  if (!isQuiet(plan) || plan.lookAgainAfterMs !== everyMs) return false;
  Object.assign(quiet, { checkedTo: at, stockSets });
  return true;
}

/** When each task or daemon that is gone leaves its list. */
function endsOfLists({ ecs, coder }: Snapshot): readonly number[] {
  const stopped = ecs.tasks.items.map(({ stoppedAt }) => stoppedAt);
  const offline = coder.organizations.flatMap(({ daemons }) =>
    daemons.items.map((daemon) => (daemon.status === 'offline' ? daemon.last_seen_at : undefined)),
  );
  return [...stopped, ...offline].map((at) => (at ?? Number.POSITIVE_INFINITY) + LISTED_MS);
}

const isQuiet = ({ actions, pools }: Plan): boolean => actions.length === 0 && !pools.some(isMoving);

/** What a decision takes from what was learned. */
const stampOf = (learned: LearnedStock | undefined): string =>
  JSON.stringify([
    learned?.tagSets.map(({ lastBuildAt }) => lastBuildAt),
    learned?.choices.map(({ rule, waiting }) => [rule, waiting]),
  ]);

/** The same world so much later: daemons go on with their heartbeats. */
function laterBy(ms: number, snapshot: Snapshot): Snapshot {
  const { coder, ecs, takenAt, clock } = snapshot;
  const later = <T extends { readonly takenAt?: EpochMs | undefined }>(reading: T): T =>
    reading.takenAt === undefined ? reading : { ...reading, takenAt: plusMs(reading.takenAt, ms) };
  return {
    ...snapshot,
    takenAt: plusMs(takenAt, ms),
    ...(clock === undefined ? {} : { clock: plusMs(clock, ms) }),
    coder: {
      ...coder,
      organizations: coder.organizations.map((organization) => {
        const { jobs, daemons, previousJobs, workspaces, templates } = organization;
        return {
          ...organization,
          jobs: later(jobs),
          daemons: later(alive(daemons, plusMs(takenAt, ms))),
          previousJobs: later(previousJobs),
          ...(workspaces && { workspaces: later(workspaces) }),
          ...(templates && { templates: later(templates) }),
        };
      }),
    },
    ecs: {
      ...ecs,
      services: later(ecs.services),
      tasks: later(ecs.tasks),
      protections: later(ecs.protections),
    },
  };
}

type Daemons = OrganizationReadings['daemons'];

function alive(daemons: Daemons, now: EpochMs): Daemons {
  const beaten = (seenAt: EpochMs): EpochMs =>
    plusMs(seenAt, Math.floor((now - seenAt) / HEARTBEAT_MS) * HEARTBEAT_MS);
  return {
    ...daemons,
    items: daemons.items.map((daemon) =>
      daemon.status === 'offline' || daemon.last_seen_at == null
        ? daemon
        : { ...daemon, last_seen_at: beaten(daemon.last_seen_at) },
    ),
  };
}
