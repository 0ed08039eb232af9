/** Decides about one pool: which tasks drain, and its desired count. */
import type { PoolNeed } from '../assign/needs.ts';
import type { EpochMs } from '../model/brands.ts';
import type { Action, Doubt } from '../model/plan.ts';
import { isPaused } from '../settings/settings-in-force.ts';
import { askActions, countActions, protectActions } from './actions.ts';
import { decideConfirming, protectUnguarded } from './confirm-rung.ts';
import type { Course, PoolInput } from './course.ts';
import { mayDrain } from './drainable.ts';
import { decideGuardlessPool } from './guardless-pool.ts';
import { decideLeasePool } from './lease-pool.ts';

export type PoolDecision = Course & {
  readonly need: PoolNeed;
  readonly doubts: readonly Doubt[];
  /** `sized`: as the need asks for. The other modes launch and drain nothing. */
  readonly mode: 'no-service' | 'server-too-old' | 'paused' | 'sized';
  /** The desired count, in tasks. */
  readonly to: number;
  readonly actions: readonly Action[];
};

/** Decides about one pool. Never throws: there is a decision for every state. */
export function decidePool(need: PoolNeed, doubts: readonly Doubt[], now: EpochMs): PoolDecision {
  const { service, overrides, pool } = need.view;
  const to = service?.desiredCount ?? 0;
  const nothing = { need, doubts, to, leaving: [], count: { to, why: [] }, confirming: NOTHING, actions: [] };
  if (service === undefined) return { ...nothing, mode: 'no-service' };
  if (doubts.includes('server-too-old')) return { ...nothing, mode: 'server-too-old' };
  const input = { need, service, doubts, now };
  if (isPaused(overrides)) {
    const confirming = protectPaused(input);
    return { ...nothing, mode: 'paused', confirming, actions: protectActions(need, confirming.protect) };
  }
  return toDecision(input, pool.scaleIn === 'lease' ? decideLeasePool(input) : decideGuardlessPool(input));
}

const NOTHING = { protect: [], stop: [], why: [] };

/** A pause must stop no build, so protections are still renewed. */
function protectPaused({ need: { view, capacity }, service, doubts }: PoolInput): Course['confirming'] {
  if (view.pool.scaleIn === 'lease') return protectUnguarded(view);
  const count = { to: service.desiredCount, why: [] };
  return decideConfirming({ view, service, capacity, leaving: [], count, doubts });
}

function toDecision({ need, service, doubts }: PoolInput, course: Course): PoolDecision {
  const { leaving, count, confirming } = course;
  const stops = confirming.stop.map(({ task }) => task.taskArn);
  const to = stops.length > 0 ? need.capacity.working - stops.length : count.to;
  return {
    ...{ need, doubts, mode: 'sized', to },
    ...course,
    actions: [
      ...countActions(need, { service, to, why: count.why, stops }),
      ...protectActions(need, confirming.protect),
      ...(mayDrain(need, doubts) ? askActions(need, leaving) : []),
    ],
  };
}
