/** The types of a policy: a way to scale the pools of a simulated world. */
import type { Deployment } from '../../../lambda/config/rules/deployment.ts';
import type { World } from '../../world/world.ts';

export type PolicySettings = Readonly<Record<string, string | number>>;

/** The jobs now that the daemons of a pool can run. A job that fits several pools counts for each of them. */
export type PoolDemand = { readonly pending: number; readonly running: number };

export type PolicyContext = {
  readonly world: World;
  readonly config: Deployment;
  /** Whether coderd has an outage. A policy cannot read the queue then. */
  readonly isCoderdDown: () => boolean;
  readonly demandOf: (pool: string) => PoolDemand;
  /** Limited to 0 and `max` of the pool. `why` is the reason in the charts. Nothing happens if it stays. */
  readonly setDesired: (pool: string, count: number, why: string) => void;
};

export type Policy<Settings extends PolicySettings = PolicySettings> = {
  readonly id: string;
  /** A method, like `start`, so that policies with different settings fit into one list. */
  title(settings: Settings, config: Deployment): string;
  readonly source?: { readonly title: string; readonly url: string };
  /** The settings to try: at least one. */
  readonly grid: readonly Settings[];
  /** Schedules all its actions on the timeline of the world, which begins now. */
  start(context: PolicyContext, settings: Settings): void;
};
