/** Joins the rows of the parts of a pool: people see one row for each pool of the configuration. */
import { isSpotPart, poolOfPart } from '../model/brands.ts';
import { groupsBy, sum } from '../model/collections.ts';
import type { DaemonCounts, PoolPlan, Reason } from '../model/plan.ts';

/** Keeps the order of the rows. */
export function joinParts(rows: readonly PoolPlan[]): readonly PoolPlan[] {
  return groupsBy(rows, ({ name }) => poolOfPart(name)).map((parts) => {
    const [{ name }, ...others] = parts;
    return others.length === 0 && !isSpotPart(name) ? parts[0] : joined(parts);
  });
}

function joined(parts: readonly [PoolPlan, ...PoolPlan[]]): PoolPlan {
  const [first] = parts;
  const total = (of: (part: PoolPlan) => number): number => sum(parts, of);
  const counts = parts.flatMap(({ daemons }) => Object.keys(daemons)) as (keyof DaemonCounts)[];
  return {
    ...first,
    name: poolOfPart(first.name),
    retiring: parts.every(({ retiring }) => retiring),
    desired: { from: totalOf(parts, 'from'), to: totalOf(parts, 'to') },
    daemons: Object.fromEntries(
      counts.map((state) => [state, total(({ daemons }) => daemons[state] ?? 0)]),
    ) as DaemonCounts,
    notCreated: total(({ notCreated }) => notCreated),
    pending: total(({ pending }) => pending),
    due: Math.max(...parts.map(({ due }) => due)),
    floor: parts.map(({ floor }) => floor).reduce((most, floor) => (floor.count > most.count ? floor : most)),
    why: reasonsOf(parts),
    parts: parts.map(({ name, service, desired, why }) => {
      return { capacity: isSpotPart(name) ? 'spot' : 'on-demand', service, desired, why } as const;
    }),
  };
}

function totalOf(parts: readonly PoolPlan[], which: 'from' | 'to'): number | null {
  const counts = parts.flatMap(({ desired }) => desired[which] ?? []);
  return counts.length === 0 ? null : sum(counts, (count) => count);
}

/** Reasons that hold for a pool only if they hold for all of it. */
const OF_ALL: ReadonlySet<Reason['code']> = new Set(['nothing-to-do', 'retired']);

/** One reason of each code. Numbers of jobs and tasks are added up, others are of the first part. */
function reasonsOf(parts: readonly PoolPlan[]): readonly Reason[] {
  const all = parts.flatMap(({ why }) => why);
  const joint = groupsBy(all, ({ code }) => code)
    .filter((alike) => !OF_ALL.has(alike[0].code) || alike.length === parts.length)
    .map((alike) => alike.reduce(added));
  return joint.length > 0 ? joint : [{ code: 'nothing-to-do' }];
}

function added(first: Reason, second: Reason): Reason {
  const { code: _, ...counts } = first;
  if (!Object.keys(counts).every((name) => ADDED.has(name))) return first;
  const more = new Map<string, unknown>(Object.entries(second));
  const sums = Object.entries(counts).map(([name, count]) => [
    name,
    Number(count) + Number(more.get(name) ?? 0),
  ]);
  return { ...first, ...Object.fromEntries(sums) };
}

const ADDED: ReadonlySet<string> = new Set(['jobs', 'tasks', 'asked']);
