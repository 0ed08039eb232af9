/**
 * Plans what happens to the function's record of builds, which is a cache: it is lost, older than
 * before or no record at all, or the function may neither read nor write it for a time.
 */
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { RECORD } from '../../../simulator/in-process/function.ts';
import { untilNextMs, type WorldContext } from '../world/world-context.ts';

const KINDS = ['lost', 'older', 'wrong', 'denied'] as const;

export type RecordFaults = {
  /** Number of faults that found a record. */
  readonly count: () => number;
  /** Permits the record again, and plans no further fault. */
  readonly end: () => void;
};

/** Plans all faults of the record of a world on its timeline. */
export function planRecordFaults({ world, plan, random, print }: Omit<WorldContext, 'fleet'>): RecordFaults {
  const { parameters, timeline } = world;
  const { recordAnHour } = plan.memory;
  let isOver = recordAnHour === 0;
  let count = 0;
  let earlier: string | undefined;
  const happen = (): void => {
    const kind = random.pick(KINDS);
    const present = parameters.find(RECORD);
    if (present === undefined) return;
    count += 1;
    print(`record of builds: ${kind}`);
    if (kind === 'lost') parameters.delete(RECORD);
    else if (kind === 'older') parameters.put(RECORD, earlier ?? present, 'Advanced');
    else if (kind === 'wrong') parameters.put(RECORD, present.slice(random.whole(1, 40)), 'Advanced');
    else {
      parameters.deny(RECORD);
      timeline.after(random.whole(MINUTE_MS, 90 * MINUTE_MS), () => parameters.permit(RECORD));
    }
    earlier = present;
  };
  const planNext = (): void => {
    if (isOver) return;
    timeline.after(untilNextMs(random, recordAnHour), () => {
      if (!isOver) happen();
      planNext();
    });
  };
  planNext();
  return {
    count: () => count,
    end: () => {
      isOver = true;
      parameters.permit(RECORD);
    },
  };
}
