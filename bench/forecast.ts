/**
 * Measures the share of the forecast in a decision: on the largest deployment, and on one whose
 * pools are all at zero.
 */

import { parseSnapshot } from '../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../lambda/config/check.ts';
import { decide } from '../lambda/decision/decide.ts';
import { sum } from '../lambda/decision/model/collections.ts';
import type { Snapshot } from '../lambda/decision/model/snapshot.ts';
import { decisionTime } from './decision-time.ts';
import { documentOf } from './fleet/document.ts';
import { makeFleet } from './fleet/fleet.ts';
import { type FleetSize, LARGEST } from './fleet/size.ts';
import { timeOf } from './shared/statistics.ts';

export type ForecastFigures = Omit<FleetSize, 'seed'> & {
  readonly templates: number;
  /** Transitions of the plan within the next hour. */
  readonly within1h: number;
  readonly decideMs: number;
  /** The same for the snapshot without the forecast, in the same run. */
  readonly withoutMs: number;
  /** The forecast's share of the time of a decision, 0 to 1. */
  readonly share: number;
  /**
   * `decideMs` divided by the time of `JSON.parse` for the same snapshot. It is comparable between
   * machines.
   */
  readonly ratio: number;
};

const WORKSPACES = [1_000, 10_000];
const ASLEEP = { jobs: 0, pools: LARGEST.pools, daemons: 0 };

/** Measures both deployments, with few workspaces and with many. */
export function measureForecast(seed: number): readonly ForecastFigures[] {
  return [LARGEST, ASLEEP].flatMap((size) =>
    WORKSPACES.map((workspaces) => measureSize({ ...size, workspaces, seed })),
  );
}

function measureSize({ seed, ...size }: FleetSize): ForecastFigures {
  const fleet = makeFleet({ ...size, seed });
  const document = documentOf(fleet);
  const text = JSON.stringify(document);
  const snapshot = parseSnapshot(document);
  const without = withoutForecast(snapshot);
  const { config } = checkConfig(fleet.config('http://127.0.0.1'));
  const decideMs = decisionTime(snapshot, config);
  const withoutMs = decisionTime(without, config);
  return {
    ...size,
    templates: sum(fleet.organizations, ({ templates }) => templates.length),
    within1h: sum(decide(snapshot, config).forecast, ({ transitions }) => transitions),
    decideMs,
    withoutMs,
    share: Math.max(0, 1 - withoutMs / decideMs),
    ratio: decideMs / timeOf(() => JSON.parse(text)),
  };
}

function withoutForecast({ coder, ...snapshot }: Snapshot): Snapshot {
  const organizations = coder.organizations.map(({ id, name, jobs, daemons, previousJobs }) => ({
    id,
    name,
    jobs,
    daemons,
    previousJobs,
  }));
  return { ...snapshot, coder: { ...coder, organizations } };
}
