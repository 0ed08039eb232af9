/**
 * What the tasks of one pool are billed at least, when no job may wait. Three steps:
 *
 * 1. Without Fargate's minimum. Handing a task on from an end to a start costs the gap between them and saves a start: what
 *    it saves is a term of the one and a term of the other, so exchanging the ends of two starts changes nothing, and a later
 *    free end is never the worse one. Each start therefore takes the latest free end, if its gap is no longer than a start.
 *    This is exact.
 * 2. The tasks of any schedule can be sorted into layers: wherever k run, layers 1 to k have one each. That keeps their number
 *    or lowers it, and their hours as they are; layer k covers all times at which k jobs run; and what the bottom layer
 *    has in one piece is made of whole tasks, so it is at least a minute if they are. Step 1 finds the least of each layer on
 *    its own. So the bottom one, where jobs follow one another, may be billed again, with the minimum: exactly, by the
 *    best last task of the first k busy periods.
 * 3. Higher layers are not billed the minimum: a task there may be shorter than a minute, as hours may have changed hands.
 *
 * Exact, therefore, where no two jobs run at a time, and where no task of step 1 is below the minimum. Otherwise it is a bound that the
 * best schedule may miss by a part of a minute for each short peak.
 */
import { type Bill, type BoundJob, LEAST_BILLED_MS } from './demand.ts';
import { eventsOf } from './events.ts';

type Span = Pick<BoundJob, 'startMs' | 'durationMs'>;

/** Jobs in order of start, then length; `taskStartMs` is billed of each new task before its first job. */
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

/** The times at which any job runs, in order. */
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
 * Step 2: `best[k]` is the least of the first k periods. Its last task runs from some period to the k-th. Of those tasks that reach the
 * minimum the best is kept from one k to the next; of those below it the longest is the best, as all cost the same.
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
