/** The pools as they are configured now: some retire, others take over their tags, or they come back. */
import type { EpochMs, OrganizationId } from '../../../../lambda/decision/model/brands.ts';
import { sum } from '../../../../lambda/decision/model/collections.ts';
import { canRun, type Tags } from '../../../../lambda/decision/model/tags.ts';
import type { World } from '../../../world/world.ts';
import type { PlannedPool, Retirement } from './plan.ts';

export type FleetPool = PlannedPool & {
  readonly image: 'guarded' | 'bare';
  readonly retiring: boolean;
};

/** The desired count with which CloudFormation creates a service (docs/internals/aws.md §7). */
const FIRST_COUNT = 1;

/** What a pool must fit. */
type FitJob = { readonly organizationId: OrganizationId; readonly tags: Tags };

type State = {
  readonly at: EpochMs;
  readonly pools: readonly FleetPool[];
  /** Names of pools whose service has no row: no look can change their counts. */
  readonly hidden: ReadonlySet<string>;
  /** Names of pools of which no new task can serve a job: see `setClosed`. */
  readonly closed: ReadonlySet<string>;
};

type Span = { readonly from: EpochMs; readonly to: EpochMs };

export class Fleet {
  retired = 0;
  readonly #world: World;
  /** The oldest first. */
  readonly #states: State[] = [];

  constructor(world: World, pools: readonly FleetPool[]) {
    this.#world = world;
    this.#deploy(pools);
  }

  /** Another list after each deployment. */
  get pools(): readonly FleetPool[] {
    return this.#states.at(-1)?.pools ?? [];
  }

  /** Whether looks see the pool from now on. */
  setHidden(pool: string, isHidden: boolean): void {
    const hidden = new Set(this.#states.at(-1)?.hidden);
    if (isHidden) hidden.add(pool);
    else hidden.delete(pool);
    this.#push({ hidden });
  }

  /** The pools of which no new task can serve a job from now on: no decision can mend that. */
  setClosed(closed: ReadonlySet<string>): void {
    const before = this.#states.at(-1)?.closed ?? new Set();
    if (before.symmetricDifference(closed).size > 0) this.#push({ closed });
  }

  /** The pools whose new tasks may serve such a job now. */
  poolsFor(job: FitJob): readonly FleetPool[] {
    const now = this.#states.at(-1);
    return now === undefined ? [] : this.#serving(now, job);
  }

  /** How long in this time at least one pool might launch for such a job, in milliseconds. */
  fittedMs(job: FitJob, span: Span): number {
    return this.#msWhile(span, (state) => this.#fitting(state, job).length > 0);
  }

  /** The same without the time in which a new task of none of them could serve it, in milliseconds. */
  servableMs(job: FitJob, span: Span): number {
    return this.#msWhile(span, (state) => this.#serving(state, job).length > 0);
  }

  /** If it is renamed, the same deployment adds a pool with another name and the same tags. */
  retire({ pool: name, isRenamed }: Pick<Retirement, 'pool' | 'isRenamed'>): void {
    this.retired += 1;
    const original = this.pools.find((pool) => pool.name === name);
    this.#set([name], true);
    if (original === undefined || !isRenamed) return;
    const renamed = { ...original, name: renamedPoolOf(name), desiredCount: FIRST_COUNT };
    this.#world.addPool(renamed);
    this.#deploy([...this.pools, renamed]);
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
    this.#deploy(this.pools.map((pool) => (names.includes(pool.name) ? { ...pool, retiring } : pool)));
  }

  #deploy(pools: readonly FleetPool[]): void {
    this.#push({ pools });
  }

  #push(changed: Partial<State>): void {
    const none: ReadonlySet<string> = new Set();
    const { pools = [], hidden = none, closed = none } = this.#states.at(-1) ?? {};
    this.#states.push({ pools, hidden, closed, ...changed, at: this.#world.timeline.now() });
  }

  #msWhile({ from, to }: Span, holds: (state: State) => boolean): number {
    const times = this.#states.map((state, index) => {
      const ms = Math.min(to, this.#states[index + 1]?.at ?? to) - Math.max(from, state.at);
      return ms > 0 && holds(state) ? ms : 0;
    });
    return sum(times, (ms) => ms);
  }

  #serving(state: State, job: FitJob): readonly FleetPool[] {
    return this.#fitting(state, job).filter(({ name }) => !state.closed.has(name));
  }

  #fitting({ pools, hidden }: State, { organizationId, tags }: FitJob): readonly FleetPool[] {
    return pools.filter(
      (pool) =>
        !pool.retiring &&
        !hidden.has(pool.name) &&
        this.#world.coderd.organizationId(pool.organization) === organizationId &&
        canRun(pool.tags, tags),
    );
  }
}

const renamedPoolOf = (name: string): string => `${name}-next`;
