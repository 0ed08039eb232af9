/** The steps of the command: read builds, group them, time a sample, estimate. */
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import { some } from '../../lambda/explain/format.ts';
import { InputError } from '../shared/cli-environment.ts';
import { type GroupedBuilds, groupBuilds } from './build-groups.ts';
import { type Reader, readHistory } from './history.ts';
import { type ColdCacheReport, coldCacheReport, DAY_MS } from './report.ts';
import { chooseBuilds, readInits } from './sample.ts';

/** `days`: how far back. `sample`: the most builds to time, of each group and template. */
type Wanted = { readonly days: number; readonly sample: number; readonly now: EpochMs };

/** Reads builds, and timings of a sample of them. Throws InputError. */
export async function readReport(
  reader: Reader,
  pools: readonly PoolConfig[],
  { days, sample, now }: Wanted,
): Promise<ColdCacheReport> {
  const period = { from: plusMs(now, -days * DAY_MS), to: now };
  const names = [...new Set(pools.map(({ organization }) => organization))].sort();
  const history = await readHistory(reader, names, period.from);
  const daemons = new Map(history.daemons.map((daemon) => [daemon.id, daemon]));
  const byName = new Map(pools.map((pool) => [String(pool.name), pool]));
  const grouped = groupBuilds(history.builds, daemons, new Set(byName.keys()));
  if (grouped.builds.length === 0) throw nothingToCompare(days, grouped.omitted);
  const chosen = chooseBuilds(grouped.builds, sample);
  const inits = await readInits(reader, chosen);
  return coldCacheReport({ history, grouped, inits, chosen: chosen.length, sample, period, pools: byName });
}

function nothingToCompare(days: number, { unlisted, foreign }: GroupedBuilds['omitted']): InputError {
  const advice =
    unlisted + foreign === 0
      ? "If there were builds, the token's user needs the organization template admin role to read workspaces"
      : `${unlisted} were run by daemons that coderd does not list any more, for example because their key was deleted, and ${foreign} by other daemons than those of tasks with a guard. Is this the configuration of this coderd?`;
  return new InputError(
    `reading the builds of the last ${some(days, 'day')}: found none of these pools. ${advice}`,
  );
}
