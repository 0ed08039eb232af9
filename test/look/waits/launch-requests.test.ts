import { describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { POOL_TAG } from '../../../lambda/decision/model/service-tags.ts';
import type { Task } from '../../../lambda/decision/model/snapshot.ts';
import { indexServing } from '../../../lambda/decision/waits/job-wait.ts';
import { LaunchRequests } from '../../../lambda/look/launch-requests.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { aService, aSnapshot, aTask, NOW, poolName } from '../../support/parts.ts';

const at = (minute: number): EpochMs => (NOW + minute * 60_000) as EpochMs;
const service = aService({ tags: [{ key: POOL_TAG, value: 'cpu' }] });
const task = (minute: number): Task => ({
  ...aTask({ group: `service:${service.serviceName}` }),
  createdAt: at(minute),
});
/** Neither counts as a task that ECS made for a request. */
const others: readonly Task[] = [
  { ...task(-9), desiredStatus: 'STOPPED' },
  { ...task(-9), group: 'service:other' },
];
const snapshotAt = (minute: number, tasks: readonly Task[] = []) => ({
  ...aSnapshot({ services: [service], tasks: [...others, ...tasks] }),
  ...{ takenAt: at(minute), clock: at(minute) },
});

/** The minutes of the looks that requested these tasks, after these looks have set the count. */
function requestedAt(sets: readonly (readonly [minute: number, from: number, to: number])[], made: Task[]) {
  const requests = new LaunchRequests();
  for (const [minute, from, to] of sets) {
    const action = { kind: 'set-desired', pool: poolName('cpu'), from, to, why: 'pending-jobs' };
    const seen = made.filter(({ createdAt = 0 }) => createdAt < at(minute));
    const applied = [action] as unknown as LookResult['outcome']['applied'];
    requests.add(snapshotAt(minute, seen), applied, { durationMs: 0, oldest: at(-60) });
  }
  const last = snapshotAt(59, made);
  const found = requests.ofTasks(last, indexServing(last));
  return made.map((one) => {
    const request = found.get(one);
    return request && (request.takenAt - NOW) / 60_000;
  });
}

describe('the request that made a task', () => {
  it.each([
    { sets: [[0, 0, 2]], made: [1, 1], expected: [0, 0], because: 'a request made both' },
    { sets: [[0, 0, 1]], made: [1, 9], expected: [0, undefined], because: 'ECS replaced a task' },
    {
      sets: [
        [0, 0, 1],
        [2, 1, 2],
      ],
      made: [3, 3],
      expected: [0, 2],
      because: 'older requests come first',
    },
    {
      sets: [
        [0, 0, 3],
        [5, 3, 0],
        [40, 0, 1],
      ],
      made: [41],
      expected: [40],
      because: 'a lower count took back the first request',
    },
    {
      sets: [
        [0, 0, 3],
        [5, 3, 2],
        [40, 2, 3],
      ],
      made: [1, 41, 42],
      expected: [0, 0, 40],
      because: 'a lower count took back one of the two tasks that ECS had not made',
    },
  ] as const)('is found: $because', ({ sets, made, expected }) => {
    expect(requestedAt(sets, made.map(task))).toEqual(expected);
  });
});
