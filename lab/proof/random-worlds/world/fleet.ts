/** The pools as they are configured now: some retire, others take over their tags, or they come back. */
import { canRun } from '../../../../lambda/decision/model/tags.ts';
import type { World } from '../../../world/world.ts';
import type { PlannedPool, Retirement } from './plan.ts';

export type FleetPool = PlannedPool & {
  readonly image: 'guarded' | 'bare';
  readonly retiring: boolean;
};

/** The desired count with which CloudFormation creates a service (docs/internals/aws.md §7). */
const FIRST_COUNT = 1;

export class Fleet {
  /** Replaced by a new list at each deployment. */
  pools: readonly FleetPool[];
  retired = 0;
  readonly #world: World;

  constructor(world: World, pools: readonly FleetPool[]) {
    this.#world = world;
    this.pools = pools;
  }

  /** If it is renamed, the same deployment adds a pool with another name and the same tags. */
  retire({ pool: name, isRenamed }: Pick<Retirement, 'pool' | 'isRenamed'>): void {
    this.retired += 1;
    const original = this.pools.find((pool) => pool.name === name);
    this.#set([name], true);
    if (original === undefined || !isRenamed) return;
    const renamed = { ...original, name: renamedPoolOf(name), desiredCount: FIRST_COUNT };
    this.#world.addPool(renamed);
    this.pools = [...this.pools, renamed];
  }

  /** Retires the pool that took over its tags: the configuration refuses two with the same tags. */
  takeBack(name: string): void {
    this.#set([renamedPoolOf(name)], true);
    this.#set([name], false);
  }

  /** Takes back the pools whose workspaces no other pool could stop. */
  takeBackNeeded(): void {
    for (const pool of this.pools) if (pool.retiring && !this.#isCovered(pool)) this.takeBack(pool.name);
  }

  #isCovered({ organization, tags }: FleetPool): boolean {
    return this.pools.some(
      (other) => !other.retiring && other.organization === organization && canRun(other.tags, tags),
    );
  }

  #set(names: readonly string[], retiring: boolean): void {
    this.pools = this.pools.map((pool) => (names.includes(pool.name) ? { ...pool, retiring } : pool));
  }
}

const renamedPoolOf = (name: string): string => `${name}-next`;
