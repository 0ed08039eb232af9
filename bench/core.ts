/**
 * Measures `decide` on generated snapshots of many sizes, without workspaces. Parsing the document
 * is a separate figure.
 */
import { parseSnapshot } from '../lambda/adapters/snapshot-schema.ts';
import { tagKey } from '../lambda/decision/model/tags.ts';
import { decisionTime } from './decision-time.ts';
import { decisionConfig } from './fleet/decision-config.ts';
import { documentOf } from './fleet/document.ts';
import { type Fleet, makeFleet } from './fleet/fleet.ts';
import type { FleetSize } from './fleet/size.ts';
import { growthExponent, timeOf } from './shared/statistics.ts';

export type CoreFigures = Omit<FleetSize, 'seed'> & {
  readonly tagGroups: number;
  readonly decideMs: number;
  /** Time of `parseSnapshot`. Only a dry run on a document needs it, not a look. */
  readonly parseMs: number;
  /** The reference: `JSON.parse` of the same document, in the same run. */
  readonly jsonParseMs: number;
  /** `decideMs` divided by `jsonParseMs`. It is comparable between machines. */
  readonly ratio: number;
};

export type GrowthFigures = {
  readonly pools: number;
  readonly daemons: number;
  /** k of time ~ jobs^k. */
  readonly exponent: number;
};

const JOBS = [100, 1_000, 10_000];
const POOLS = [20, 200];
const DAEMONS = [100, 1_000];

/** Measures all sizes, smallest first. */
export function measureCore(seed: number): readonly CoreFigures[] {
  return POOLS.flatMap((pools) =>
    DAEMONS.flatMap((daemons) =>
      JOBS.map((jobs) => measureSize({ jobs, pools, daemons, workspaces: 0, seed })),
    ),
  );
}

/**
 * Computes how the time of a decision grows with the number of jobs, for each number of pools and
 * daemons.
 */
export function growthOf(figures: readonly CoreFigures[]): readonly GrowthFigures[] {
  const series = Map.groupBy(figures, ({ pools, daemons }) => `${pools} ${daemons}`);
  return [...series.values()].flatMap((rows) => {
    const [first] = rows;
    if (first === undefined) return [];
    const points = rows.map(({ jobs, decideMs }) => ({ size: jobs, ms: decideMs }));
    return [{ pools: first.pools, daemons: first.daemons, exponent: growthExponent(points) }];
  });
}

function measureSize({ seed, ...size }: FleetSize): CoreFigures {
  const fleet = makeFleet({ ...size, seed });
  const document = documentOf(fleet);
  const text = JSON.stringify(document);
  const snapshot = parseSnapshot(document);
  const config = decisionConfig(fleet);
  const decideMs = decisionTime(snapshot, config);
  const parseMs = timeOf(() => parseSnapshot(document));
  const jsonParseMs = timeOf(() => JSON.parse(text));
  return {
    ...size,
    tagGroups: countGroups(fleet),
    decideMs,
    parseMs,
    jsonParseMs,
    ratio: decideMs / jsonParseMs,
  };
}

function countGroups({ organizations }: Fleet): number {
  const keys = organizations.flatMap(({ name, jobs }) =>
    jobs.flatMap(({ status, tags }) => (status === 'pending' ? [`${name} ${tagKey(tags)}`] : [])),
  );
  return new Set(keys).size;
}
