/** Looks that cannot read a list now and then, where starts fail and where they succeed. */
import { describe, expect, it } from 'vitest';
import { type List, tell } from './partial-sight.ts';

/** What the same story launches while all lists are read. */
const ALL_READ = { 'the key is deleted': 16, 'the image cannot be pulled': 10 } as const;

describe.each(['the key is deleted', 'the image cannot be pulled'] as const)('while %s', (cause) => {
  it('launches few tasks in an hour with all lists read', async () => {
    expect((await tell({ cause })).launches).toBe(ALL_READ[cause]);
  });

  it.each<{ unread: readonly List[]; every: number }>([
    { unread: ['tasks'], every: 15 },
    { unread: ['daemons'], every: 15 },
    { unread: ['tasks', 'daemons'], every: 2 },
  ])('launches at most twice as many without $unread at one look of $every', async (blind) => {
    const { launches, killed } = await tell({ cause, ...blind });
    expect(launches).toBeLessThanOrEqual(2 * ALL_READ[cause]);
    expect(killed).toBe(0);
  });

  it('launches at most twice as many where no process lives for two looks', async () => {
    const { launches } = await tell({ cause, unread: ['tasks'], every: 15, looksAProcess: 1 });
    expect(launches).toBeLessThanOrEqual(2 * ALL_READ[cause]);
  });
});

describe('while starts succeed', () => {
  const busy = { buildMinutes: 6, minutes: 80 } as const;

  it('makes people wait at most 1.5 times as long without a list at one look of 15', async () => {
    const { p95S } = await tell(busy);
    for (const unread of [['tasks'], ['daemons'], ['services']] as const)
      expect((await tell({ ...busy, unread, every: 15 })).p95S).toBeLessThanOrEqual(1.5 * p95S);
  });

  it('leaves no job for half an hour while lists are unread the whole time, and says why jobs wait', async () => {
    const { longestS, unstarted, looks } = await tell({ ...busy, unread: ['tasks', 'daemons'] });
    expect(unstarted).toBe(0);
    expect(longestS).toBeLessThan(20 * 60);
    const why = looks.flatMap(({ plan }) => plan.pools.flatMap((pool) => pool.why.map(({ code }) => code)));
    expect(why).toContain('starts-unread');
  });
});
