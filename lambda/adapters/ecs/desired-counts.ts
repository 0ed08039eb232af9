import type { ServiceArn } from '../../core/brands.ts';
import type { Service } from '../../core/snapshot.ts';

type Known = { readonly seen: number; readonly set?: number };

/**
 * The desired counts that this process has seen and set. A count that is neither was changed by somebody else. A new process knows
 * none and reports none.
 */
export class DesiredCounts {
  readonly #known = new Map<ServiceArn, Known>();

  /** To be called before the write: its answer may be lost. */
  willSet(service: ServiceArn, count: number): void {
    const known = this.#known.get(service);
    if (known !== undefined) this.#known.set(service, { ...known, set: count });
  }

  /** The service, with `changedFrom` in the first look that sees a count of somebody else. */
  compare(service: Service): Service {
    const { serviceArn, desiredCount } = service;
    const known = this.#known.get(serviceArn);
    // ECS may still show the count from before our write
    if (known?.seen === desiredCount && known.set !== desiredCount) return service;
    this.#known.set(serviceArn, { seen: desiredCount });
    if (known === undefined || known.set === desiredCount) return service;
    return { ...service, changedFrom: known.set ?? known.seen };
  }
}
