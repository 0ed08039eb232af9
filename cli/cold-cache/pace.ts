/** Sends requests at a limited rate, a few at once. */
import { setTimeout as wait } from 'node:timers/promises';

const AT_ONCE = 4;

export type Pace = {
  /** The most requests that begin in one second. */
  readonly perSecond: number;
  /** @default the timers of this machine */
  readonly sleep?: ((ms: number) => Promise<unknown>) | undefined;
};

/** Runs `read` for each item. The results have the order of the items. */
export async function readEach<T, R>(
  items: readonly T[],
  { perSecond, sleep = wait }: Pace,
  read: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const startedAt = performance.now();
  // all workers share one iterator: an idle worker takes the next item
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) {
      const earlyMs = startedAt + (index * 1000) / perSecond - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      results[index] = await read(item, index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
