/** The pools of a world as they are configured now: some retire, and others take their tags over, or they come back. */
import { canRun } from '../../../lambda/decision/model/tags.ts';
import type { World } from '../../../simulator/world.ts';
import type { PlannedPool, Retirement } from './plan.ts';

export type FleetPool = PlannedPool & {
  readonly image: 'guarded' | 'bare';
  readonly retiring: boolean;
};

/** What CloudFormation creates a service with (docs/aws.md §7). */
const FIRST_COUNT = 1;

export class Fleet {
  /** Another list after each deployment. */
  pools: readonly FleetPool[];
  /** Retirements so far. */
  retired = 0;
  readonly #world: World;

  constructor(world: World, pools: readonly FleetPool[]) {
    this.#world = world;
    this.pools = pools;
  }

  /** Retires a pool; renamed, it goes on under another name in the same deployment. */
  retire({ pool: name, isRenamed }: Pick<Retirement, 'pool' | 'isRenamed'>): void {
    this.retired += 1;
    const follower = this.pools.find((pool) => pool.name === name);
    this.#set([name], true);
    if (follower === undefined || !isRenamed) return;
    const renamed = { ...follower, name: followerOf(name), desiredCount: FIRST_COUNT };
    this.#world.addPool(renamed);
    this.pools = [...this.pools, renamed];
  }

  /** Its tags are its own again: two pools that have the same are refused. */
  takeBack(name: string): void {
    this.#set([followerOf(name)], true);
    this.#set([name], false);
  }

  /** Takes those back whose workspaces no other pool could stop. */
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

const followerOf = (name: string): string => `${name}-next`;
