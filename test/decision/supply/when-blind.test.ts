/** `min` while coderd cannot be read. */
import { expect, it } from 'vitest';
import type { ReadingStatus } from '../../../lambda/decision/model/snapshot.ts';
import { HOUR, reading } from '../../support/parts.ts';
import { doneBy, type Stocked } from '../../support/stocked.ts';
import { table } from '../../support/table.ts';

const unread = (status: ReadingStatus): Pick<Stocked, 'organization'> => ({
  organization: {
    jobs: reading([], status),
    daemons: reading([], status),
    previousJobs: reading([], status),
  },
});
const coderdIsAway: Stocked['change'] = (snapshot) => ({ ...snapshot, coder: { organizations: [] } });

it.each(table<{ scenario: string; world: Partial<Stocked> }>`
  scenario                  | world
  both lists failed         | ${unread('failed')}
  both lists are forbidden  | ${unread('forbidden')}
  no organization is known  | ${{ change: coderdIsAway }}
`)('launches the min tasks while $scenario', ({ world }) => {
  expect(doneBy({ pools: { cpu: { config: { min: 3 } } }, ...world })).toEqual(['cpu 0->3']);
});

it('drains no daemon above min while coderd cannot be read', () => {
  const pools = { cpu: { config: { min: 1 }, idle: [2 * HOUR, HOUR, HOUR] } };
  expect(doneBy({ pools, ...unread('failed') })).toEqual([]);
});
