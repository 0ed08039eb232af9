/** Counts pending and running jobs of a simulated coderd, by the pools that can run them. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { covers, normalizeTags, type TagSet } from '../../../lambda/decision/model/tags.ts';
import type { World } from '../../world/world.ts';
import type { PoolDemand } from '../policies/policy.ts';
import { BacktestError } from '../trace/backtest-error.ts';
import { fittingOf } from './fitting.ts';
import type { Replay } from './replay.ts';

type Wanted = { readonly organization: string; readonly tags: TagSet };

export class Demand {
  readonly #world: World;
  readonly #replay: Replay;
  readonly #dollarsPerHour: (pool: string) => number;
  readonly #pools: ReadonlyMap<string, Wanted>;
  readonly #names: readonly string[];
  readonly #fitting: (wanted: Wanted) => readonly number[];

  constructor(
    on: { readonly world: World; readonly replay: Replay },
    { pools }: Deployment,
    dollarsPerHour: (pool: string) => number,
  ) {
    this.#world = on.world;
    this.#replay = on.replay;
    this.#dollarsPerHour = dollarsPerHour;
    this.#names = pools.map(({ name }) => name);
    this.#fitting = fittingOf({ pools });
    this.#pools = new Map(
      pools.map(({ name, organization, tags }) => [name, { organization, tags: normalizeTags(tags) }]),
    );
  }

  /** The jobs that fit one pool, whichever other pools they fit too. Throws BacktestError. */
  of(pool: string): PoolDemand {
    const found = this.#pools.get(pool);
    if (found === undefined)
      throw new BacktestError(
        `finding pool "${pool}": the configuration has only ${this.#names.join(', ')}; correct the name`,
      );
    const organizationId = this.#world.coderd.organizationId(found.organization);
    const demand = { pending: 0, running: 0 };
    for (const job of this.#world.coderd.openJobs()) {
      if (job.organizationId !== organizationId || !covers(found.tags, job.tags)) continue;
      if (job.startedAt === undefined) demand.pending++;
      else demand.running++;
    }
    return demand;
  }

  /** Pending and due jobs, each for the cheapest pool that fits. Due ones are not inserted yet. */
  queues(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const wanted of this.#waiting()) {
      const pool = this.#cheapestFor(wanted);
      if (pool !== undefined) counts.set(pool, (counts.get(pool) ?? 0) + 1);
    }
    return counts;
  }

  isAnyRunning(): boolean {
    return [...this.#world.coderd.openJobs()].some(({ workerId }) => workerId !== undefined);
  }

  isAnyWaiting(): boolean {
    return this.#waiting().some((wanted) => this.#cheapestFor(wanted) !== undefined);
  }

  #waiting(): readonly Wanted[] {
    const pending = [...this.#world.coderd.openJobs()].filter(({ startedAt }) => startedAt === undefined);
    const due = this.#replay.due();
    return [
      ...pending.map(({ organizationId, tags }) => ({ organization: this.#nameOf(organizationId), tags })),
      ...due.map(({ organization, tags }) => ({ organization, tags: normalizeTags(tags) })),
    ];
  }

  #nameOf(id: OrganizationId): string {
    return this.#world.coderd.organizations.inPath(id)?.name ?? '';
  }

  #cheapestFor(wanted: Wanted): string | undefined {
    const price = this.#dollarsPerHour;
    const fitting = this.#fitting(wanted).flatMap((place) => this.#names[place] ?? []);
    return fitting.sort((a, b) => price(a) - price(b))[0];
  }
}
