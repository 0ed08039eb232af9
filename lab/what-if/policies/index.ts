/** The policies that a backtest compares with the autoscaler (docs/backtest.md). */
import { AGENT_SCALER } from './agent-scaler.ts';
import { HPA } from './hpa.ts';
import type { Policy } from './policy.ts';
import { STATIC_FLEET } from './static-fleet.ts';

export const BASELINES: readonly Policy[] = [STATIC_FLEET, HPA, AGENT_SCALER];
