import { expect, it } from 'vitest';
import { type Pace, readEach } from '../../../cli/cold-cache/pace.ts';

/** A clock that a sleep moves on. `begun` has the second in which each request began. */
function pacedClock(perSecond: number) {
  let at = 0;
  const begun: number[] = [];
  const pace: Pace = {
    perSecond,
    now: () => at,
    sleep: async (ms) => {
      at += ms;
    },
  };
  return { pace, begun, begin: () => begun.push(at / 1000), pass: (ms: number) => (at += ms) };
}

const ITEMS = Array.from({ length: 12 }, (_, index) => index);

it('begins no more requests in a second than allowed, and keeps the order of the results', async () => {
  const { pace, begun, begin } = pacedClock(2);
  const results = await readEach(ITEMS, pace, async (item) => {
    begin();
    return item * 10;
  });
  expect(results).toEqual(ITEMS.map((item) => item * 10));
  expect(begun).toEqual(ITEMS.map((item) => item / 2));
});

it('does not catch up in a burst after coderd was slow', async () => {
  const { pace, begun, begin, pass } = pacedClock(1);
  await readEach(ITEMS, pace, async (item) => {
    begin();
    if (item === 0) pass(60_000);
  });
  const afterwards = begun.slice(1);
  expect(afterwards.slice(1).map((at, index) => at - (afterwards[index] ?? 0))).toEqual(
    Array.from({ length: 10 }, () => 1),
  );
});

it('begins no further request after one has failed', async () => {
  const { pace, begun, begin } = pacedClock(50);
  const reading = readEach(ITEMS, pace, async (item) => {
    begin();
    if (item === 2) throw new RangeError('gone');
  });
  await expect(reading).rejects.toThrow('gone');
  expect(begun.length).toBeLessThanOrEqual(6);
});
