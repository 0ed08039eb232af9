/** A part of a trace, as if fewer people worked in the same way. */
import { Random } from '../../world/base/random.ts';
import type { Trace, TraceJob } from '../trace/trace.ts';

/**
 * Returns a function that keeps a share of the workspaces, 0 to 1, with all their jobs. A job without a workspace is
 * kept or left out alone. The same seed chooses the same ones, and a smaller share is a part of a larger one.
 */
export function fewerBuilds(trace: Trace, seed: number): (share: number) => Trace {
  const random = new Random(seed);
  const lots = new Map<string, number>();
  const lotOf = ({ organization, workspace }: TraceJob): number => {
    if (workspace === undefined) return random.next();
    const key = `${organization} ${workspace}`;
    const lot = lots.get(key) ?? random.next();
    lots.set(key, lot);
    return lot;
  };
  const withLots = (jobs: readonly TraceJob[]) => jobs.map((job) => ({ job, lot: lotOf(job) }));
  const [jobs, past] = [withLots(trace.jobs), withLots(trace.past ?? [])];
  const within = (all: typeof jobs, share: number) =>
    all.flatMap(({ job, lot }) => (lot < share ? [job] : []));
  return (share) => ({ ...trace, jobs: within(jobs, share), past: within(past, share) });
}
