import type { ServiceArn } from '../../decision/model/brands.ts';
import type { Service } from '../../decision/model/snapshot.ts';

type Known = {
  readonly seen: number;
  /** What was set since and not seen yet, the newest last. */
  readonly set: readonly number[];
};

/**
 * The desired counts that this process has seen and set. A count that is neither was changed by somebody else. A new process knows
 * none and reports none.
 */
export class DesiredCounts {
  readonly #known = new Map<ServiceArn, Known>();

  /** To be called before the write: its answer may be lost. */
  willSet(service: ServiceArn, count: number): void {
    const known = this.#known.get(service);
    if (known === undefined) return;
    this.#known.set(service, { ...known, set: [...known.set.filter((earlier) => earlier !== count), count] });
  }

  /** The service, with `changedFrom` in the first look that sees a count of somebody else. */
  compare(service: Service): Service {
    const { serviceArn, desiredCount } = service;
    const { seen = desiredCount, set = [] } = this.#known.get(serviceArn) ?? {};
    const place = set.indexOf(desiredCount);
    // ECS may still show the count from before our last write
    const isOwn = place >= 0 || desiredCount === seen;
    this.#known.set(serviceArn, { seen: desiredCount, set: isOwn ? set.slice(place + 1) : [] });
    return isOwn ? service : { ...service, changedFrom: set.at(-1) ?? seen };
  }
}
