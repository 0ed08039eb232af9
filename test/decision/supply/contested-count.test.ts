/** A pool whose desired count others keep changing: what it still does, and what it leaves alone. */
import { expect, it } from 'vitest';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { ago, MINUTE } from '../../support/parts.ts';
import type { Picture } from '../../support/picture.ts';
import { actionsOf, edit, planOf } from '../../support/planned.ts';

/** The plan for a pool whose count others changed so many minutes ago. */
function planAfter(minutes: readonly number[], picture: Picture) {
  return planOf(picture, ({ ecs }) =>
    edit(ecs.services.items, 0, {
      changesByOthers: minutes.map((past) => new Date(ago(past * MINUTE)).toISOString()),
    }),
  );
}

const idle: Picture = { pools: { cpu: { tasks: 'I20m' } } };

it.each([
  { minutes: [0, 1], contested: false, because: 'a person may correct a mistake' },
  { minutes: [0, 5, 10], contested: true, because: 'nobody sets a count three times in ten minutes' },
  { minutes: [0, 5, 11], contested: false, because: 'the changes are further apart' },
  { minutes: [30, 39, 40, 55], contested: true, because: 'the last such time is less than an hour ago' },
])('changes $minutes minutes ago make a count contested: $contested, because $because', (row) => {
  const plan = planAfter(row.minutes, idle);
  expect(plan.findings).toEqual(
    row.contested ? [{ code: 'count-contested', pool: 'cpu', changes: row.minutes.length }] : [],
  );
  expect(actionsOf(plan)).toEqual(row.contested ? [] : ['ask cpu#0']);
});

const OFTEN = [0, 1, 2];

it.each<Picture['pools'][string] & { jobs?: number; expected: readonly string[]; because: string }>([
  { tasks: 'I2m', jobs: 3, desired: 1, expected: ['cpu 1->3 pending-jobs'], because: 'jobs need tasks' },
  { tasks: '', desired: 0, min: 2, expected: [], because: 'only jobs launch tasks' },
  { tasks: '', desired: 0, warm: 2, expected: [], because: 'only jobs launch tasks' },
  { tasks: 'B I9m X', desired: 3, expected: [], because: 'a count is not lowered' },
  { tasks: 'B I9m', desired: 1, expected: [], because: 'ECS stops no task that has a lease' },
  {
    ...{ tasks: 'B P', desired: 1 },
    expected: ['cpu 1->2 count-below-tasks'],
    because: 'ECS could stop the task that starts',
  },
  {
    ...{ tasks: 'B U9m', desired: 1 },
    expected: ['cpu 1->2 count-below-tasks'],
    because: 'ECS could stop the task without a lease',
  },
])('plans $expected for tasks $tasks of a contested count: $because', ({ jobs = 0, expected, ...row }) => {
  const { because, ...cpu } = row;
  const pending = jobs > 0 ? [{ jobs }] : [];
  expect([actionsOf(planAfter(OFTEN, { pools: { cpu }, pending })), because]).toEqual([expected, because]);
});

it('says what a contested count costs and what to do', () => {
  const { findings, pools } = planAfter(OFTEN, { pools: { cpu: { desired: 0, min: 2 } } });
  expect(findings.map(sentenceOf)).toEqual([
    'pool "cpu": others changed the desired count 3 times in the last hour. Scale-in is on hold. Find out who: `aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=UpdateService`. If it is Application Auto Scaling, `autoscaler doctor` names the target to deregister. Only pending jobs launch tasks, because each correction would launch or stop tasks again. The autoscaler resumes an hour after the last time when others made 3 changes within 10 min',
  ]);
  expect(pools[0]?.why).toContainEqual({ code: 'launching-for-jobs-only', wanted: 2 });
});
