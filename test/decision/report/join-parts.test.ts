/** The row of a pool with two kinds of capacity, from the rows of its parts. */
import { expect, it } from 'vitest';
import type { PoolPlan, Reason } from '../../../lambda/decision/model/plan.ts';
import { joinParts } from '../../../lambda/decision/report/join-parts.ts';

const RETIRED: Reason = { code: 'retired' };
const left = (tasks: number): Reason => ({ code: 'tasks-left', tasks });
const low = (tasks: number): Reason => ({ code: 'count-below-tasks', desired: 1, tasks, to: 3 });
/** With the fields that are joined. */
const part = (name: string, count: number, why: readonly Reason[], rest: object = {}): PoolPlan => {
  const numbers = {
    daemons: { busy: count },
    notCreated: count,
    pending: count,
    due: count,
    floor: { count },
  };
  const row = { name, why, retiring: count > 2, desired: { from: count, to: null }, ...numbers, ...rest };
  return row as unknown as PoolPlan;
};

it('has what both parts have, the most that is due, the higher floor, and each reason once', () => {
  const row = { daemons: { busy: 5 }, notCreated: 5, pending: 5, due: 3, floor: { count: 3 } };
  const parts = [part('cpu', 2, [RETIRED, left(1), low(9)]), part('cpu/spot', 3, [left(2), low(8)])];
  const why = [left(3), low(9)];
  const desired = { from: 5, to: null };
  expect(joinParts(parts)).toMatchObject([{ name: 'cpu', retiring: false, desired, why, ...row }]);
  const last = [part('cpu', 3, [RETIRED]), part('cpu/spot', 3, [RETIRED], { daemons: { unknown: 1 } })];
  expect(joinParts(last)[0]).toMatchObject({
    retiring: true,
    daemons: { busy: 3, unknown: 1 },
    why: [RETIRED],
  });
  const [idle] = joinParts([part('cpu', 3, [RETIRED]), part('cpu/spot', 2, [])]);
  expect(idle).toMatchObject({ floor: { count: 3 }, why: [{ code: 'nothing-to-do' }] });
});
