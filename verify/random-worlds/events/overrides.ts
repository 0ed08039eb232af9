/**
 * Plans overrides that people set as tags on services (docs/adr/0016). Some of them are malformed.
 */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { OverrideKind } from '../../../lambda/decision/model/plan.ts';
import { PIN_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { tagKeysOf, tagsOfOverride } from '../../../lambda/decision/settings/overrides.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { FleetPool } from '../world/fleet.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

export type Overrides = {
  /** Number of overrides that were set. */
  readonly count: () => number;
  /** The latest end of all overrides that were set. */
  readonly lastEnd: () => EpochMs;
  /** Sets no further override, and removes malformed ones. */
  readonly end: () => void;
};

const KINDS: readonly OverrideKind[] = ['pause', 'pause-scale-in', 'pin', 'pin', 'floor'];
const REMOVED_SHARE = 0.25;
const MALFORMED_SHARE = 0.2;

type TagValues = Readonly<Record<string, string>>;

/** Plans all overrides of a world on its timeline. */
export function planOverrides(context: WorldContext): Overrides {
  const { world, plan, random } = context;
  const runner = new OverrideRunner(context);
  let isOver = plan.overridesAnHour === 0;
  const planNext = (): void => {
    world.timeline.after(untilNextMs(random, plan.overridesAnHour), () => {
      if (isOver) return;
      runner.act();
      planNext();
    });
  };
  if (!isOver) planNext();
  return {
    count: () => runner.count,
    lastEnd: () => runner.lastEnd,
    end: () => {
      isOver = true;
      runner.removeAllMalformed();
    },
  };
}

class OverrideRunner {
  count = 0;
  lastEnd: EpochMs;
  readonly #context: WorldContext;
  /** Keys of malformed or unknown override tags, by pool. */
  readonly #malformed = new Map<string, readonly string[]>();

  constructor(context: WorldContext) {
    this.#context = context;
    this.lastEnd = context.world.timeline.now();
  }

  act(): void {
    const { fleet, random, print } = this.#context;
    const pool = random.pick(fleet.pools);
    const kind = random.pick(KINDS);
    if (pool === undefined || kind === undefined) return;
    if (random.next() < REMOVED_SHARE) {
      this.#untag(pool.name, tagKeysOf(kind));
      print(`override ${kind} removed: ${pool.name}`);
      return;
    }
    const tags = this.#draw(pool, kind);
    this.#tag(pool.name, tags);
    this.count += 1;
    print(`override: ${pool.name} ${JSON.stringify(tags)}`);
  }

  removeAllMalformed(): void {
    for (const pool of [...this.#malformed.keys()]) this.#removeMalformed(pool);
  }

  #draw(pool: FleetPool, kind: OverrideKind): TagValues {
    const { world, random } = this.#context;
    const until = plusMs(world.timeline.now(), spread(random, 2 * MINUTE_MS, 4 * HOUR_MS));
    if (until > this.lastEnd) this.lastEnd = until;
    // A count above the pool's max is valid.
    const count = random.next() < 0.3 ? 0 : random.whole(0, pool.max + 3);
    const details = { until: new Date(until).toISOString(), by: 'anna', why: 'a night like any other' };
    const tags = tagsOfOverride({ kind, ...(/^pause/.test(kind) ? {} : { count }), ...details });
    return random.next() < MALFORMED_SHARE ? this.#malform(pool.name, kind, tags) : tags;
  }

  /**
   * Makes the tags malformed, as typing errors in the console do. A person reads the finding and
   * removes them later.
   */
  #malform(pool: string, kind: OverrideKind, tags: TagValues): TagValues {
    const { world, random } = this.#context;
    const [key = '', until = ''] = tagKeysOf(kind);
    this.#malformed.set(pool, [...(this.#malformed.get(pool) ?? []), ...tagKeysOf(kind), UNKNOWN_TAG]);
    world.timeline.after(spread(random, MINUTE_MS, HOUR_MS), () => this.#removeMalformed(pool));
    const { [until]: _, ...withoutEnd } = tags;
    const malformed = [
      withoutEnd,
      { ...tags, [until]: 'tomorrow' },
      { ...tags, [key]: 'yes' },
      { [UNKNOWN_TAG]: '3' },
    ];
    return random.pick(malformed) ?? withoutEnd;
  }

  #removeMalformed(pool: string): void {
    this.#untag(pool, this.#malformed.get(pool) ?? []);
    this.#malformed.delete(pool);
  }

  #tag(pool: string, tags: TagValues): void {
    const service = this.#context.world.service(pool);
    service.setTags({ ...service.state.tags, ...tags });
  }

  #untag(pool: string, keys: readonly string[]): void {
    const service = this.#context.world.service(pool);
    const kept = Object.entries(service.state.tags).filter(([key]) => !keys.includes(key));
    service.setTags(Object.fromEntries(kept));
  }
}

const UNKNOWN_TAG = `${PIN_TAG}s`;

/** Log-uniform: short and long durations are equally likely. */
function spread(random: Random, fromMs: number, toMs: number): number {
  return Math.round(fromMs * (toMs / fromMs) ** random.next());
}
