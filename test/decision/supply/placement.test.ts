import { describe, expect, it } from 'vitest';
import type { ServiceEvent } from '../../../lambda/decision/model/snapshot.ts';
import { derivePlacement, placementEvents } from '../../../lambda/decision/supply/placement.ts';
import { ago, aTask, HOUR, MINUTE, NOW, SECOND } from '../../support/parts.ts';
import { actionsOf, edit, planOf } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const CAPACITY =
  'Capacity is unavailable at this time. Please try again later or in a different availability zone.';
const QUOTA = "You've reached the limit on the number of vCPUs you can run concurrently";

/** The pool's tasks start within 3 minutes. */
const AT = { now: NOW, startMs: 3 * MINUTE };

const paused = { pause: 'all', 'pause-until': '2026-11-20T10:00:00.000Z' };

const eventOf = (words: string, ms: number): ServiceEvent => ({
  createdAt: ago(ms),
  message: `(service Stack-cpu) ${words}`,
});
const failed = (ms: number, reason = CAPACITY) =>
  eventOf(`was unable to place a task. Reason: ${reason}`, ms);
const started = (ms: number) => eventOf('has started 2 tasks: (task 0a) (task 0b).', ms);

describe('a placement failure', () => {
  it.each([
    { name: 'no event', events: [], since: undefined },
    { name: 'one event', events: [failed(20 * MINUTE)], since: 20 * MINUTE },
    {
      name: 'a role that ECS may not assume',
      events: [eventOf('failed to launch a task with (error ECS was unable to assume the role)', MINUTE)],
      since: MINUTE,
    },
    {
      name: 'a cluster with 500 tasks in PROVISIONING',
      events: [
        eventOf(
          'was unable to place tasks in your cluster because the tasks provisioning capacity limit was exceeded.',
          MINUTE,
        ),
      ],
      since: MINUTE,
    },
    { name: 'an event of almost six hours ago', events: [failed(6 * HOUR)], since: 6 * HOUR },
    { name: 'an event of more than six hours ago', events: [failed(6 * HOUR + SECOND)], since: undefined },
    {
      name: 'an event repeated after six hours',
      events: [failed(MINUTE), failed(6 * HOUR + MINUTE)],
      since: 6 * HOUR + MINUTE,
    },
    { name: 'a later start', events: [started(MINUTE), failed(20 * MINUTE)], since: undefined },
    { name: 'an earlier start', events: [failed(MINUTE), started(20 * MINUTE)], since: MINUTE },
    {
      name: 'one attempt that placed some tasks and not others',
      events: [started(20 * MINUTE - 30 * SECOND), failed(20 * MINUTE)],
      since: 20 * MINUTE,
    },
    { name: 'events in any order', events: [failed(20 * MINUTE), started(MINUTE)], since: undefined },
    {
      name: 'a start between two failures',
      events: [failed(5 * MINUTE), started(10 * MINUTE), failed(20 * MINUTE)],
      since: 5 * MINUTE,
    },
    {
      name: 'a steady state, which proves no start',
      events: [eventOf('has reached a steady state.', MINUTE), failed(20 * MINUTE)],
      since: 20 * MINUTE,
    },
  ])('starts at the right event with $name', ({ events, since }) => {
    const found = derivePlacement({ events }, [], AT);
    expect(found?.since).toBe(since === undefined ? undefined : ago(since));
  });

  it.each([
    { name: 'ends with a younger task record, even a PENDING one', created: 10 * MINUTE, holds: false },
    { name: 'does not end with an older task record', created: 30 * MINUTE, holds: true },
    {
      name: 'does not end with a task record of the same attempt',
      created: 20 * MINUTE - 30 * SECOND,
      holds: true,
    },
  ])('$name', ({ created, holds }) => {
    const task = aTask({ lastStatus: 'PENDING', createdAt: ago(created) });
    expect(derivePlacement({ events: [failed(20 * MINUTE)] }, [task], AT) !== undefined).toBe(holds);
  });

  it('has the text of the newest event of ECS without the name of the service', () => {
    const events = [failed(MINUTE, QUOTA), failed(20 * MINUTE)];
    expect(derivePlacement({ events }, [], AT)).toEqual({
      since: ago(20 * MINUTE),
      reason: QUOTA,
    });
  });

  it.each(table<{
    name: string;
    lasted: number;
    until: number;
    since?: number;
    start?: number;
    created?: number;
  }>`
    name                                                              | lasted | until | since | start | created
    begins when tasks are first missing, after twice their start time | 6      | 0     | 6     |       |
    does not begin within twice the start time                        | 5.9    | 0     |       |       |
    begins after 5 minutes if a start takes seconds                   | 5      | 0     | 5     | 0.1   |
    does not begin within 14 minutes if a start takes 12              | 14     | 0     |       | 12    |
    begins after 15 minutes if a start takes 12                       | 15     | 0     | 15    | 12    |
    holds after the count was lowered                                 | 6      | 40    | 46    |       |
    begins when ECS created its last task                             | 9      | 0     | 6     |       | 6
    does not begin soon after ECS created a task                      | 9      | 0     |       |       | 5
    ends with a task that ECS created after the count was lowered     | 9      | 40    |       |       | 20
  `)('without an event $name', ({ lasted, until, start = 3, created, since }) => {
    const shortage = { lastedMs: lasted * MINUTE, until: ago(until * MINUTE) };
    const tasks = created === undefined ? [] : [aTask({ createdAt: ago(created * MINUTE) })];
    const found = derivePlacement({ shortage }, tasks, { now: NOW, startMs: start * MINUTE });
    expect(found?.since).toBe(since === undefined ? undefined : ago(since * MINUTE));
  });

  it.each([
    { changed: 20, waited: 20, since: 20, because: 'nothing has changed for 20 min, and a job waits for it' },
    { changed: 20, waited: 9, since: 9, because: 'the job came later' },
    { changed: 9, waited: 20, since: 9, because: 'the count was raised later' },
    { changed: 3, waited: 20, since: undefined, because: 'the count was raised just now' },
    { changed: 20, waited: 3, since: undefined, because: 'the job has just come' },
    {
      changed: 20,
      waited: undefined,
      since: undefined,
      because: 'no job says that a task is missing for long',
    },
    { changed: undefined, waited: 20, since: undefined, because: 'this process saw the shortage begin' },
  ])('of which a first look saw nothing lasts for $since min: $because', ({ changed, waited, since }) => {
    const minutesAgo = (minutes: number | undefined) =>
      minutes === undefined ? undefined : ago(minutes * MINUTE);
    const shortage = { lastedMs: 0, until: NOW, changedAt: minutesAgo(changed) };
    const found = derivePlacement({ shortage }, [], { ...AT, waitingSince: () => minutesAgo(waited) });
    expect(found?.since).toBe(minutesAgo(since));
  });

  it('is unknown in a snapshot without events', () => {
    expect(derivePlacement({}, [], AT)).toBeUndefined();
  });
});

it('keeps the ten newest events about placement', () => {
  const events = Array.from({ length: 30 }, (_, index) =>
    index % 2 === 0 ? started((30 - index) * MINUTE) : eventOf('has reached a steady state.', index * MINUTE),
  );
  const kept = placementEvents(events);
  expect(kept).toHaveLength(10);
  expect(kept[0]).toEqual(started(2 * MINUTE));
  expect(kept.map(({ message }) => message)).not.toContain('has reached a steady state.');
});

it.each([
  {
    cpu: { tasks: 'B', desired: 2 },
    expected: ['gpu 0->1 pending-jobs', 'cpu 2->1 placement-failing'],
    because: 'it is given up',
  },
  { cpu: { tasks: 'N', desired: 2 }, expected: [], because: 'ECS might stop the task without a lease' },
  { cpu: { tasks: 'B', desired: 2, overrides: paused }, expected: [], because: 'a person paused the pool' },
  {
    cpu: { tasks: 'U9m', desired: 2, min: 1 },
    expected: [],
    because: 'ECS might stop a task that nothing protects',
  },
])('reserves room for unplaced tasks while they are desired: $because', ({ cpu, expected }) => {
  const gpu = { pool: 'gpu' };
  const picture = {
    pools: { cpu, gpu: { tags: gpu } },
    pending: [{ tags: gpu, jobs: 1 }],
    maxTasks: 2,
  };
  const plan = planOf(picture, ({ ecs, takenAt }) => {
    edit(ecs.services.items, 0, { events: [{ ...failed(0), createdAt: takenAt }] });
  });
  expect(actionsOf(plan)).toEqual(expected);
});
