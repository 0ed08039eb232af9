/** What a pool's mode decides, and what it decides from. */
import type { PoolNeed } from '../assign/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import type { Doubt } from '../model/plan.ts';
import type { Service } from '../model/snapshot.ts';
import type { Confirming } from './confirm-rung.ts';
import type { CountDecision } from './counts.ts';
import type { LeaveDecision } from './leaving.ts';

/** The pool has an ECS service. */
export type PoolInput = {
  readonly need: PoolNeed;
  readonly service: Service;
  /** Any doubt holds scale-in. */
  readonly doubts: readonly Doubt[];
  readonly now: EpochMs;
};

export type Course = {
  /** The tasks that leave, and the spare tasks that stay. */
  readonly leaving: readonly LeaveDecision[];
  readonly count: CountDecision;
  readonly confirming: Confirming;
};
