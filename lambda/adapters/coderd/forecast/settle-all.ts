/** Does it for every item, so many side by side; the outcomes are in the order of the items. Doesn't throw. */
export async function settleAll<In, Out>(
  items: readonly In[],
  atOnce: number,
  act: (item: In) => Promise<Out>,
): Promise<readonly PromiseSettledResult<Out>[]> {
  const outcomes: PromiseSettledResult<Out>[] = [];
  // one iterator for all: whoever is free takes the next item
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) [outcomes[index]] = await Promise.allSettled([act(item)]);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

export function isFulfilled<T>(outcome: PromiseSettledResult<T>): outcome is PromiseFulfilledResult<T> {
  return outcome.status === 'fulfilled';
}

export function isRejected<T>(outcome: PromiseSettledResult<T>): outcome is PromiseRejectedResult {
  return outcome.status === 'rejected';
}
