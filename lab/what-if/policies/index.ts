/** The policies that a backtest compares with the autoscaler (docs/backtest.md). */
import { AGENT_SCALER, FROM_ZERO } from './by-queue.ts';
import type { Policy } from './policy.ts';
import { STATIC_FLEET } from './static-fleet.ts';

export const BASELINES: readonly Policy[] = [STATIC_FLEET, FROM_ZERO, AGENT_SCALER];
