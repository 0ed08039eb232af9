/** `min` while coderd cannot be read. */
import { expect, it } from 'vitest';
import type { ReadingStatus, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { ago, HOUR, MINUTE, poolName, reading } from '../../support/parts.ts';
import { doneBy, type Stocked } from '../../support/stocked.ts';
import { table } from '../../support/table.ts';

const unread = (status: ReadingStatus): Pick<Stocked, 'organization'> => ({
  organization: {
    jobs: reading([], status),
    daemons: reading([], status),
    previousJobs: reading([], status),
  },
});
const coderdIsAway = (snapshot: Snapshot): Snapshot => ({ ...snapshot, coder: { organizations: [] } });
/** This process could not read coderd a minute ago either. */
const again = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  remembered: {
    ...{ mismatches: {}, refused: [] },
    pools: [{ pool: poolName('cpu'), unreadSince: ago(MINUTE) }],
  },
});

it.each(table<{ scenario: string; world: Partial<Stocked> }>`
  scenario                  | world
  both lists failed         | ${{ ...unread('failed'), change: again }}
  both lists are forbidden  | ${{ ...unread('forbidden'), change: again }}
  no organization is known  | ${{ change: (snapshot: Snapshot) => again(coderdIsAway(snapshot)) }}
`)('launches the min tasks while $scenario', ({ world }) => {
  expect(doneBy({ pools: { cpu: { config: { min: 3 } } }, ...world })).toEqual(['cpu 0->3']);
});

it('launches one of the min tasks at the first look of a process, and three at the second', () => {
  const world = { pools: { cpu: { config: { min: 5 } } }, ...unread('failed') };
  expect(doneBy(world)).toEqual(['cpu 0->1']);
  expect(doneBy({ ...world, change: again })).toEqual(['cpu 0->3']);
});

it('drains no daemon above min while coderd cannot be read', () => {
  const pools = { cpu: { config: { min: 1 }, idle: [2 * HOUR, HOUR, HOUR] } };
  expect(doneBy({ pools, ...unread('failed') })).toEqual([]);
});
