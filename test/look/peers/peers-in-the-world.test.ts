/** Two stacks of one coderd, each with its own function, which restarts at random times. */
import { beforeAll, expect, it } from 'vitest';
import { IS_FULL } from '../../support/runs.ts';
import { table } from '../../support/table.ts';
import { type Build, drawBuilds, runStacks, type StackSpec, type StacksFigures } from './stacks.ts';

const [COUNT, AN_HOUR] = IS_FULL ? [20_000, 3_000] : [15, 600];
const SHARE = 1.03;
const TIMEOUT_MS = IS_FULL ? 3_600_000 : 60_000;
/** A minute and twice a start, a look, and the start of the other stack. */
const LONGEST_MS = 60_000 + 2 * 75_000 + 20_000 + 75_000;

/**
 * The tag set belongs to this one. It restarts when the one function does: other restarts alone change the
 * launches of one function by 5 %.
 */
const EU: StackSpec = { name: 'eu-west', peers: { self: 'eu-west', others: ['us-east'] } };
const US: StackSpec = { name: 'us-east', peers: { self: 'us-east', others: ['eu-west'] } };
const without = (stack: StackSpec): StackSpec => ({ ...stack, peers: undefined });
const down = (stack: StackSpec): StackSpec => ({ ...stack, outages: [[0, 90]] });

const builds: readonly Build[] = drawBuilds(COUNT, { anHour: AN_HOUR });
let one: StacksFigures;
let unshared: StacksFigures;
beforeAll(async () => {
  one = await runStacks({ stacks: [EU, US], builds, isOneFunction: true });
  unshared = await runStacks({ stacks: [EU, US].map(without), builds });
}, TIMEOUT_MS);

it.each(table<{ stacks: readonly StackSpec[]; than: () => StacksFigures; because: string }>`
  stacks                 | than              | because
  ${[EU, US]}            | ${() => one}      | a job belongs to one of them
  ${[EU, down(US)]}      | ${() => one}      | none belongs to the other one
  ${[down(EU), US]}      | ${() => one}      | the jobs of a stack that is down are left to it for a time
  ${[EU, without(US)]}   | ${() => unshared} | a stack that does not know the other launches for all jobs
`)(
  'launches hardly more tasks, because $because',
  async ({ stacks, than }) => {
    const { tasks, killed, succeeded, waitsMs } = await runStacks({ stacks, builds });
    expect({ killed, succeeded }).toEqual({ killed: 0, succeeded: COUNT });
    expect(tasks.launched).toBeLessThanOrEqual(Math.ceil(SHARE * than().tasks.launched));
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(LONGEST_MS);
  },
  TIMEOUT_MS,
);

it('launches more tasks without peers', () => {
  expect(unshared.tasks.launched).toBeGreaterThan(1.1 * one.tasks.launched);
});
