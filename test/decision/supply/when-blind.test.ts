/** `whenBlind`: tasks that stay while coderd cannot be read. */
import { describe, expect, it } from 'vitest';
import type { ReadingStatus } from '../../../lambda/decision/model/snapshot.ts';
import { ago, arnOf, aTask, HOUR, MINUTE, reading } from '../../support/parts.ts';
import { deliberateOn, doneBy, type Stocked } from '../../support/stocked.ts';
import { table } from '../../support/table.ts';

const floor = (count: number, given: object = {}) => ({ config: { whenBlind: { floor: count }, ...given } });
const unread = (status: ReadingStatus): Pick<Stocked, 'organization'> => ({
  organization: {
    jobs: reading([], status),
    daemons: reading([], status),
    previousJobs: reading([], status),
  },
});
const coderdIsAway: Stocked['change'] = (snapshot) => ({
  ...snapshot,
  coder: { organizations: [] },
});

/** Tasks of the pool that started and exited at once, a few minutes ago. */
const exiting =
  (count: number): NonNullable<Stocked['change']> =>
  (snapshot) => ({
    ...snapshot,
    ecs: {
      ...snapshot.ecs,
      tasks: reading([
        ...snapshot.ecs.tasks.items,
        ...Array.from({ length: count }, (_, index) =>
          aTask({
            taskArn: arnOf(900 + index),
            lastStatus: 'STOPPED',
            desiredStatus: 'STOPPED',
            createdAt: ago((index + 3) * MINUTE),
            startedAt: ago((index + 2) * MINUTE),
            stoppedAt: ago((index + 1) * MINUTE),
            stopCode: 'EssentialContainerExited',
            containers: [{ name: 'provisioner', exitCode: 1 }],
          }),
        ),
      ]),
    },
  });

describe('whenBlind.floor while coderd cannot be read', () => {
  it.each(table<{ scenario: string; world: Partial<Stocked>; expected: readonly string[] }>`
    scenario                     | world                                                        | expected
    both lists failed            | ${unread('failed')}                                          | ${['cpu 0->3']}
    both lists are forbidden     | ${unread('forbidden')}                                       | ${['cpu 0->3']}
    only the jobs failed         | ${{ organization: { jobs: reading([], 'failed') } }}         | ${['cpu 0->3']}
    only the daemons failed      | ${{ organization: { daemons: reading([], 'failed') } }}      | ${['cpu 0->3']}
    no organization is known     | ${{ change: coderdIsAway }}                                  | ${['cpu 0->3']}
    both lists were read         | ${{}}                                                        | ${[]}
    both lists are truncated     | ${unread('truncated')}                                       | ${[]}
    only the earlier jobs failed | ${{ organization: { previousJobs: reading([], 'failed') } }} | ${[]}
  `)('plans $expected for $scenario', ({ world, expected }) => {
    expect(doneBy({ pools: { cpu: floor(3) }, ...world })).toEqual(expected);
  });

  it('is named in the plan', () => {
    const [pool] = deliberateOn({ pools: { cpu: floor(3) }, ...unread('failed') }).plan.pools;
    expect(pool?.floor).toEqual({ count: 3, from: 'when-blind' });
  });

  it('gives way to a higher min', () => {
    expect(doneBy({ pools: { cpu: floor(2, { min: 4 }) }, ...unread('failed') })).toEqual(['cpu 0->4']);
  });

  it('stays within max, maxTasks and dollarsPerHour', () => {
    expect(doneBy({ pools: { cpu: floor(30, { max: 5 }) }, ...unread('failed') })).toEqual(['cpu 0->5']);
    const limits = { maxTasks: 2 };
    expect(doneBy({ pools: { cpu: floor(3) }, ...unread('failed'), limits })).toEqual(['cpu 0->2']);
    const dollars = { maxTasks: 100, dollarsPerHour: 0.04 };
    expect(doneBy({ pools: { cpu: floor(3) }, ...unread('failed'), limits: dollars })).toEqual(['cpu 0->1']);
  });

  it('does not apply to a retiring pool', () => {
    expect(doneBy({ pools: { cpu: floor(3, { retiring: true }) }, ...unread('failed') })).toEqual([]);
  });

  it('drains no daemon', () => {
    const pools = { cpu: { ...floor(1), idle: [2 * HOUR, HOUR, HOUR] } };
    expect(doneBy({ pools, ...unread('failed') })).toEqual([]);
  });
});

describe('whenBlind.floor with daemons that exit at once', () => {
  it('launches only one task at a time', () => {
    const world = { pools: { cpu: floor(6) }, ...unread('failed') };
    const launched = doneBy({ ...world, change: exiting(5) });
    expect(launched.length === 0 || launched[0] === 'cpu 0->1').toBe(true);
  });

  it('applies again once coderd can be read', () => {
    expect(doneBy({ pools: { cpu: floor(3, { min: 1 }) } })).toEqual(['cpu 0->1']);
  });
});
