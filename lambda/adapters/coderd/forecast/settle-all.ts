/** At most `atOnce` in parallel. The outcomes are in the order of the items. Does not throw. */
export async function settleAll<In, Out>(
  items: readonly In[],
  atOnce: number,
  act: (item: In) => Promise<Out>,
): Promise<readonly PromiseSettledResult<Out>[]> {
  const outcomes: PromiseSettledResult<Out>[] = [];
  // All workers share one iterator, so a free worker takes the next item.
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) [outcomes[index]] = await Promise.allSettled([act(item)]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

export function isFulfilled<T>(outcome: PromiseSettledResult<T>): outcome is PromiseFulfilledResult<T> {
  return outcome.status === 'fulfilled';
}

export function isRejected<T>(outcome: PromiseSettledResult<T>): outcome is PromiseRejectedResult {
  return outcome.status === 'rejected';
}
