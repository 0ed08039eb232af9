/**
 * Computes the lowest bill for the tasks of one pool, when no job may wait. Three steps:
 *
 * 1. Ignore Fargate's minimum. A job that starts can reuse the task of a job that has ended. That
 *    costs the gap between them and saves the start of a task. The saving is a sum of one term for
 *    the end and one for the start, so exchanging the ends of two starts changes nothing. A later
 *    free end is never worse. Each start therefore takes the latest free end, if the gap is not
 *    longer than the start of a task. This is exact.
 * 2. The tasks of any schedule can be sorted into layers: while k tasks run, layers 1 to k have one
 *    each. This keeps their hours, and does not raise their number. Layer k covers all times at
 *    which k jobs run. Each contiguous part of the bottom layer consists of whole tasks, so it is
 *    at least a minute long if they are. Step 1 finds the optimum of each layer separately. So the
 *    bottom layer, where jobs follow one another, can be billed again with the minimum. This is
 *    exact: it chooses the best last task of the first k busy periods.
 * 3. Higher layers ignore the minimum: sorting may cut a task there into parts shorter than a
 *    minute.
 *
 * The result is exact if no two jobs run at a time, or if no task of step 1 is below the minimum.
 * Otherwise the best schedule may cost more, by a part of a minute for each short peak.
 */
import { type Bill, type BoundJob, eventsOf, LEAST_BILLED_MS } from './demand.ts';

type Span = Pick<BoundJob, 'startMs' | 'durationMs'>;

/** `jobs` are sorted by start, then duration. Each new task is billed `taskStartMs` before its first job. */
export function billOnePool(jobs: readonly Span[], taskStartMs: number): Bill {
  const busy = busyPeriods(jobs);
  const all = billOfLatestEnds(jobs, taskStartMs);
  const bottom = billOfLatestEnds(busy, taskStartMs);
  const bottomWithMinimum = billOfPeriods(busy, taskStartMs);
  return {
    billedMs: all.billedMs - bottom.billedMs + bottomWithMinimum.billedMs,
    launches: all.launches - bottom.launches + bottomWithMinimum.launches,
  };
}

/** Step 1. */
function billOfLatestEnds(jobs: readonly Span[], taskStartMs: number): Bill {
  const freeSince: number[] = [];
  let billedMs = 0;
  let launches = 0;
  for (const { atMs, job, isStart } of eventsOf(jobs)) {
    if (!isStart) {
      freeSince.push(atMs);
      continue;
    }
    const gapMs = atMs - (freeSince.at(-1) ?? Number.NEGATIVE_INFINITY);
    const isHandedOn = gapMs <= taskStartMs;
    if (isHandedOn) freeSince.pop();
    else launches++;
    billedMs += (isHandedOn ? gapMs : taskStartMs) + (jobs[job]?.durationMs ?? 0);
  }
  return { billedMs, launches };
}

/** The periods in which at least one job runs, in order. */
function busyPeriods(jobs: readonly Span[]): readonly Span[] {
  const periods: { startMs: number; durationMs: number }[] = [];
  for (const { startMs, durationMs } of jobs) {
    const last = periods.at(-1);
    if (last === undefined || startMs > last.startMs + last.durationMs) periods.push({ startMs, durationMs });
    else last.durationMs = Math.max(last.durationMs, startMs + durationMs - last.startMs);
  }
  return periods;
}

/**
 * Step 2: `best[k]` is the lowest bill of the first k periods. Its last task runs from some period
 * to the k-th. `above` keeps the best of the tasks that reach the minimum. Tasks below the minimum
 * all cost the same, so the longest one is the best.
 */
function billOfPeriods(periods: readonly Span[], taskStartMs: number): Bill {
  const best: Bill[] = [{ billedMs: 0, launches: 0 }];
  let above: Bill = { billedMs: Number.POSITIVE_INFINITY, launches: 0 };
  let below = 0;
  for (const [index, { startMs, durationMs }] of periods.entries()) {
    const endMs = startMs + durationMs;
    for (; below <= index; below++) {
      const from = periods[below]?.startMs ?? 0;
      if (taskStartMs + endMs - from < LEAST_BILLED_MS) break;
      above = lesser(above, plus(best[below], taskStartMs - from));
    }
    const atMinimum = below <= index ? [plus(best[below], LEAST_BILLED_MS)] : [];
    best.push(atMinimum.reduce(lesser, { ...above, billedMs: above.billedMs + endMs }));
  }
  return best.at(-1) ?? { billedMs: 0, launches: 0 };
}

const lesser = (a: Bill, b: Bill): Bill => (b.billedMs < a.billedMs ? b : a);

const plus = (bill: Bill | undefined, taskMs: number): Bill => ({
  billedMs: (bill?.billedMs ?? 0) + taskMs,
  launches: (bill?.launches ?? 0) + 1,
});
