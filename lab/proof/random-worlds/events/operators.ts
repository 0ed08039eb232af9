/** Overrides as tags on services (docs/adr/0016), some malformed, and pools retired and taken back. */
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import type { OverrideKind } from '../../../../lambda/decision/model/plan.ts';
import { PIN_TAG } from '../../../../lambda/decision/model/service-tags.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { tagKeysOf, tagsOfOverride } from '../../../../lambda/decision/settings/overrides.ts';
import type { Random } from '../../../world/base/random.ts';
import type { FleetPool } from '../world/fleet.ts';
import { spreadMs, type WorldEvents } from '../world/world-events.ts';

const KINDS: readonly OverrideKind[] = ['pause', 'pause-scale-in', 'pin', 'pin', 'floor'];
const REMOVED_SHARE = 0.25;
const MALFORMED_SHARE = 0.2;
const UNKNOWN_TAG = `${PIN_TAG}s`;

type TagValues = Readonly<Record<string, string>>;

/** At the end, pools are taken back without which workspaces would run without end. */
export function planRetirements(events: WorldEvents): void {
  const { plan, fleet, print } = events;
  const after = (hours: number, act: () => void): void => events.after(Math.round(hours * HOUR_MS), act);
  for (const retirement of plan.retirements) {
    const { pool, atHours, isRenamed, backAfterHours } = retirement;
    after(atHours, () => {
      print(`retiring: ${pool}${isRenamed ? ', renamed' : ''}`);
      fleet.retire(retirement);
      if (backAfterHours === undefined) return;
      after(backAfterHours, () => {
        print(`taken back: ${pool}`);
        fleet.takeBack(pool);
      });
    });
  }
  events.atEnd(() => fleet.takeBackNeeded());
}

export function planOverrides(events: WorldEvents): void {
  const operator = new Operator(events);
  events.repeat(operator.random, events.plan.overridesAnHour, () => operator.override());
  events.atEnd(() => operator.removeAllMalformed());
}

class Operator {
  readonly random: Random;
  readonly #events: WorldEvents;
  /** Keys of malformed or unknown override tags, by pool. */
  readonly #malformed = new Map<string, readonly string[]>();

  constructor(events: WorldEvents) {
    this.random = events.source(6);
    this.#events = events;
  }

  override(): void {
    const { fleet, counts, print } = this.#events;
    const pool = this.random.pick(fleet.pools);
    const kind = this.random.pick(KINDS);
    if (pool === undefined || kind === undefined) return;
    if (this.random.next() < REMOVED_SHARE) {
      this.#untag(pool.name, tagKeysOf(kind));
      print(`override ${kind} removed: ${pool.name}`);
      return;
    }
    const tags = this.#draw(pool, kind);
    const service = this.#events.world.service(pool.name);
    service.setTags({ ...service.state.tags, ...tags });
    counts.overrides += 1;
    print(`override: ${pool.name} ${JSON.stringify(tags)}`);
  }

  removeAllMalformed(): void {
    for (const pool of [...this.#malformed.keys()]) this.#removeMalformed(pool);
  }

  #draw(pool: FleetPool, kind: OverrideKind): TagValues {
    const { random } = this;
    const until = plusMs(this.#events.world.timeline.now(), spreadMs(random, 2 * MINUTE_MS, 4 * HOUR_MS));
    if (until > this.#events.lastOverrideEnd) this.#events.lastOverrideEnd = until;
    // A count above the pool's max is valid.
    const count = random.next() < 0.3 ? 0 : random.whole(0, pool.max + 3);
    const details = { until: new Date(until).toISOString(), by: 'anna', why: 'a night like any other' };
    const tags = tagsOfOverride({ kind, ...(/^pause/.test(kind) ? {} : { count }), ...details });
    return random.next() < MALFORMED_SHARE ? this.#malform(pool.name, kind, tags) : tags;
  }

  /** As typing errors in the console do. A person reads the finding and removes them later. */
  #malform(pool: string, kind: OverrideKind, tags: TagValues): TagValues {
    const [key = '', until = ''] = tagKeysOf(kind);
    this.#malformed.set(pool, [...(this.#malformed.get(pool) ?? []), ...tagKeysOf(kind), UNKNOWN_TAG]);
    const afterMs = spreadMs(this.random, MINUTE_MS, HOUR_MS);
    this.#events.world.timeline.after(afterMs, () => this.#removeMalformed(pool));
    const { [until]: _, ...withoutEnd } = tags;
    const malformed = [
      withoutEnd,
      { ...tags, [until]: 'tomorrow' },
      { ...tags, [key]: 'yes' },
      { [UNKNOWN_TAG]: '3' },
    ];
    return this.random.pick(malformed) ?? withoutEnd;
  }

  #removeMalformed(pool: string): void {
    this.#untag(pool, this.#malformed.get(pool) ?? []);
    this.#malformed.delete(pool);
  }

  #untag(pool: string, keys: readonly string[]): void {
    const service = this.#events.world.service(pool);
    const kept = Object.entries(service.state.tags).filter(([key]) => !keys.includes(key));
    service.setTags(Object.fromEntries(kept));
  }
}
