/** Measures `decide` with the forecast and without it; on the largest deployment also at zero. */
import { snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { decide } from '../../lambda/decision/decide.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { makeFleet } from './fleet/fleet.ts';
import { BUSY, type FleetSize, LARGEST, QUIET, WIDEST } from './fleet/pools.ts';
import { observeFleet } from './fleet/serve.ts';
import { timeOf, timeOn } from './statistics.ts';

export type DecisionFigures = Omit<FleetSize, 'seed'> & {
  readonly decideMs: number;
  /** The same for the snapshot without the forecast, in the same run. */
  readonly withoutMs: number;
  /** `decideMs` by the time of `JSON.parse` for the same snapshot: comparable between machines. */
  readonly ratio: number;
};

const ASLEEP = { ...LARGEST, jobs: 0, daemons: 0 };

export async function measureDecisions(seed: number): Promise<readonly DecisionFigures[]> {
  const figures: DecisionFigures[] = [];
  for (const size of [QUIET, BUSY, LARGEST, WIDEST, ASLEEP])
    figures.push(await measureSize({ ...size, seed }));
  return figures;
}

async function measureSize({ seed, ...size }: FleetSize): Promise<DecisionFigures> {
  const { snapshot, config } = await observeFleet(makeFleet({ ...size, seed }));
  const text = JSON.stringify(snapshotToJson(snapshot));
  const decideMs = decisionTime(snapshot, config);
  const withoutMs = decisionTime(withoutForecast(snapshot), config);
  return { ...size, decideMs, withoutMs, ratio: decideMs / timeOf(() => JSON.parse(text)) };
}

/** Median milliseconds of one decision without any cache, as in the first look of a function. */
function decisionTime(snapshot: Snapshot, config: Config): number {
  return timeOn(
    () => structuredClone(snapshot),
    (fresh) => decide(fresh, config),
  );
}

function withoutForecast({ coder, ...snapshot }: Snapshot): Snapshot {
  const organizations = coder.organizations.map(({ id, name, jobs, daemons, previousJobs }) => ({
    ...{ id, name, jobs, daemons, previousJobs },
  }));
  return { ...snapshot, coder: { ...coder, organizations } };
}
