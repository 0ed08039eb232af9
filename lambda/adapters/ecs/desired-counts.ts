import type { ServiceArn } from '../../decision/model/brands.ts';
import type { Service } from '../../decision/model/snapshot.ts';

type Known = {
  readonly seen: number;
  /** Counts that this process set later and has not seen yet, newest last. */
  readonly set: readonly number[];
};

/**
 * The desired counts that this process has seen and set. Any other count was changed by someone
 * else. A new process knows no counts and reports no changes.
 */
export class DesiredCounts {
  readonly #known = new Map<ServiceArn, Known>();

  /** Call this before the write, because its answer may be lost. */
  willSet(service: ServiceArn, count: number): void {
    const known = this.#known.get(service);
    if (known === undefined) return;
    this.#known.set(service, { ...known, set: [...known.set.filter((earlier) => earlier !== count), count] });
  }

  /** The service, with `changedFrom` in the first look that sees a count that someone else set. */
  compare(service: Service): Service {
    const { serviceArn, desiredCount } = service;
    const { seen = desiredCount, set = [] } = this.#known.get(serviceArn) ?? {};
    const index = set.indexOf(desiredCount);
    // ECS may still show the count from before the last write of this process.
    const isOwn = index >= 0 || desiredCount === seen;
    this.#known.set(serviceArn, { seen: desiredCount, set: isOwn ? set.slice(index + 1) : [] });
    return isOwn ? service : { ...service, changedFrom: set.at(-1) ?? seen };
  }
}
