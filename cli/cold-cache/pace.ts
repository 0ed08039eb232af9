/** Sends requests at a limited rate, a few at once. */
import { setTimeout as wait } from 'node:timers/promises';

const AT_ONCE = 4;

export type Pace = {
  /** The most requests that begin in one second. */
  readonly perSecond: number;
  /** @default the timers of this machine */
  readonly sleep?: ((ms: number) => Promise<unknown>) | undefined;
  /** Milliseconds. @default the clock of this process */
  readonly now?: (() => number) | undefined;
};

/**
 * Runs `read` for each item. The results have the order of the items. After an error it begins no
 * further request.
 */
export async function readEach<T, R>(
  items: readonly T[],
  pace: Pace,
  read: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const nextTurn = turnsOf(pace);
  let hasFailed = false;
  // all workers share one iterator: an idle worker takes the next item
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) {
      await nextTurn();
      if (hasFailed) return;
      results[index] = await read(item, index).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Turns at even distances. A turn that nobody took in time is not made up for: no burst follows. */
function turnsOf({ perSecond, sleep = wait, now = () => performance.now() }: Pace): () => Promise<void> {
  let freeAt = now();
  let last = Promise.resolve();
  const takeTurn = async (): Promise<void> => {
    const earlyMs = freeAt - now();
    if (earlyMs > 0) await sleep(earlyMs);
    freeAt = Math.max(freeAt, now()) + 1000 / perSecond;
  };
  return () => {
    last = last.then(takeTurn);
    return last;
  };
}
