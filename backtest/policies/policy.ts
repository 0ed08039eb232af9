/** A way to scale the pools of a world: the product itself, or what one would run instead. */
import type { Deployment } from '../../lambda/config/rules/deployment.ts';
import type { World } from '../../simulator/world.ts';

/** The settings that a grid search chooses among. */
export type PolicySettings = Readonly<Record<string, string | number>>;

/** What the jobs of a pool's organization that its daemons can run are now; jobs of several pools count for each of them. */
export type PoolDemand = { readonly pending: number; readonly running: number };

export type Scene = {
  readonly world: World;
  readonly config: Deployment;
  /** Whether coderd answers nobody: what reads its queue then sees nothing new. */
  readonly isCoderdDown: () => boolean;
  readonly demandOf: (pool: string) => PoolDemand;
  /** Sets the pool's desired count, bounded by 0 and its `max`; `why` goes into the pictures. Does nothing where nothing changes. */
  readonly setDesired: (pool: string, count: number, why: string) => void;
  /** Counts looks and requests, for the figures. */
  readonly count: (what: {
    readonly ticks?: number;
    readonly coderd?: number;
    readonly ecs?: number;
  }) => void;
};

export type Policy<Settings extends PolicySettings = PolicySettings> = {
  readonly id: string;
  /** A method, as `start` is: policies with settings of their own go into one list. */
  title(settings: Settings, config: Deployment): string;
  readonly source: { readonly title: string; readonly url: string };
  /** The rule, as its source states it; and what was changed to have it run on ECS. */
  readonly rule: string;
  /** Whether its scale-in may kill builds: whom it hits is luck, so the search has several goes at it. */
  readonly canKill: boolean;
  /** What the grid search tries. The first is what its source has by default. */
  readonly grid: (config: Deployment) => readonly Settings[];
  /** Plans all that it does on the world's timeline, which begins at `scene.world.timeline.now()`. */
  start(scene: Scene, settings: Settings): void;
};
