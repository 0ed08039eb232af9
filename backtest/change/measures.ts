/** The figures that a comparison shows, each computed from one replay. */

import { type Figures, lostJobs } from '../replay/result.ts';
import { perMonth } from '../search/price-point.ts';
import type { Trace } from '../trace/trace.ts';

type Replay = { readonly figures: Figures; readonly trace: Pick<Trace, 'from' | 'to'> };

/** A month has 730 hours. Waits are those of jobs that people wait for. */
export const MEASURES = {
  dollarsPerMonth: ({ figures, trace }: Replay) => perMonth(figures.dollars.tasks, trace),
  meanWaitS: ({ figures }: Replay) => figures.waitOfPeople.meanS,
  p50WaitS: ({ figures }: Replay) => figures.waitOfPeople.p50S,
  p90WaitS: ({ figures }: Replay) => figures.waitOfPeople.p90S,
  p95WaitS: ({ figures }: Replay) => figures.waitOfPeople.p95S,
  maxWaitS: ({ figures }: Replay) => figures.waitOfPeople.maxS,
  minutesPerMonth: ({ figures, trace }: Replay) =>
    perMonth((figures.waitOfPeople.meanS * figures.waitOfPeople.jobs) / 60, trace),
  lostJobs: ({ figures }: Replay) => lostJobs(figures),
  lateSchedules: ({ figures }: Replay) => figures.executor.delayed,
  launches: ({ figures }: Replay) => figures.tasks.launches,
  idleLaunches: ({ figures }: Replay) => figures.tasks.idleLaunches,
} satisfies Record<string, (replay: Replay) => number>;

export type MeasureId = keyof typeof MEASURES;
