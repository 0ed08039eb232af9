/** People who override pools, by tags on their services (docs/adr/0016), now and then in a way that can't be read. */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { OverrideKind } from '../../../lambda/decision/model/plan.ts';
import { PIN_TAG } from '../../../lambda/decision/model/service-tags.ts';
import { tagKeysOf, tagsOfOverride } from '../../../lambda/decision/settings/overrides.ts';
import type { Random } from '../../../simulator/base/random.ts';
import type { FleetPool } from '../world/fleet.ts';
import { type Scene, untilNextMs } from '../world/scene.ts';

export type Overrides = {
  /** How many were set. */
  readonly count: () => number;
  /** When the last of them ends, at the latest. */
  readonly lastEnd: () => EpochMs;
  /** From now on nobody overrides anything, and what can't be read is taken away. */
  readonly end: () => void;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KINDS: readonly OverrideKind[] = ['pause', 'pause-scale-in', 'pin', 'pin', 'floor'];
const REMOVED_SHARE = 0.25;
const SPOILT_SHARE = 0.2;

type TagValues = Readonly<Record<string, string>>;

/** Plans all overrides of a world on its timeline. */
export function planOverrides(scene: Scene): Overrides {
  const { world, plan, random } = scene;
  const people = new People(scene);
  let isOver = plan.overridesAnHour === 0;
  const planNext = (): void => {
    world.timeline.after(untilNextMs(random, plan.overridesAnHour), () => {
      if (isOver) return;
      people.act();
      planNext();
    });
  };
  if (!isOver) planNext();
  return {
    count: () => people.count,
    lastEnd: () => people.lastEnd,
    end: () => {
      isOver = true;
      people.mendAll();
    },
  };
}

class People {
  count = 0;
  lastEnd: EpochMs;
  readonly #scene: Scene;
  /** Keys of tags that can't be read, or may not be, by pool. */
  readonly #spoilt = new Map<string, readonly string[]>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.lastEnd = scene.world.timeline.now();
  }

  act(): void {
    const { fleet, random, say } = this.#scene;
    const pool = random.pick(fleet.pools);
    const kind = random.pick(KINDS);
    if (pool === undefined || kind === undefined) return;
    if (random.next() < REMOVED_SHARE) {
      this.#untag(pool.name, tagKeysOf(kind));
      say(`no ${kind} any more: ${pool.name}`);
      return;
    }
    const tags = this.#draw(pool, kind);
    this.#tag(pool.name, tags);
    this.count += 1;
    say(`override: ${pool.name} ${JSON.stringify(tags)}`);
  }

  mendAll(): void {
    for (const pool of [...this.#spoilt.keys()]) this.#mend(pool);
  }

  #draw(pool: FleetPool, kind: OverrideKind): TagValues {
    const { world, random } = this.#scene;
    const until = plusMs(world.timeline.now(), spread(random, 2 * MINUTE_MS, 4 * HOUR_MS));
    if (until > this.lastEnd) this.lastEnd = until;
    // more than the pool's max is not held against anybody
    const count = random.next() < 0.3 ? 0 : random.whole(0, pool.max + 3);
    const said = { until: new Date(until).toISOString(), by: 'anna', why: 'a night like any other' };
    const tags = tagsOfOverride({ kind, ...(/^pause/.test(kind) ? {} : { count }), ...said });
    return random.next() < SPOILT_SHARE ? this.#spoil(pool.name, kind, tags) : tags;
  }

  /** As slips in the console do; somebody reads the finding, and takes it away. */
  #spoil(pool: string, kind: OverrideKind, tags: TagValues): TagValues {
    const { world, random } = this.#scene;
    const [key = '', until = ''] = tagKeysOf(kind);
    this.#spoilt.set(pool, [...(this.#spoilt.get(pool) ?? []), ...tagKeysOf(kind), STRAY]);
    world.timeline.after(spread(random, MINUTE_MS, HOUR_MS), () => this.#mend(pool));
    const { [until]: _, ...withoutEnd } = tags;
    const spoilt = [
      withoutEnd,
      { ...tags, [until]: 'tomorrow' },
      { ...tags, [key]: 'yes' },
      { [STRAY]: '3' },
    ];
    return random.pick(spoilt) ?? withoutEnd;
  }

  #mend(pool: string): void {
    this.#untag(pool, this.#spoilt.get(pool) ?? []);
    this.#spoilt.delete(pool);
  }

  #tag(pool: string, tags: TagValues): void {
    const service = this.#scene.world.service(pool);
    service.setTags({ ...service.state.tags, ...tags });
  }

  #untag(pool: string, keys: readonly string[]): void {
    const service = this.#scene.world.service(pool);
    const kept = Object.entries(service.state.tags).filter(([key]) => !keys.includes(key));
    service.setTags(Object.fromEntries(kept));
  }
}

const STRAY = `${PIN_TAG}s`;

/** Evenly over the orders of magnitude. */
function spread(random: Random, fromMs: number, toMs: number): number {
  return Math.round(fromMs * (toMs / fromMs) ** random.next());
}
