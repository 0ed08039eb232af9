import { expect, it } from 'vitest';
import { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import type { ServiceArn } from '../../lambda/decision/model/brands.ts';

const serviceArn = 'arn:cpu' as ServiceArn;
const seen = (desiredCount: number) => ({
  serviceArn,
  serviceName: 'cpu',
  status: 'ACTIVE',
  desiredCount,
  runningCount: 0,
  pendingCount: 0,
  deployments: [],
  tags: [],
});

type Row = {
  readonly events: string;
  readonly expected: readonly (number | undefined)[];
  readonly because: string;
};

/** In `events`, `3` is a look that reads 3, and `=5` is a write of 5. */
it.each<Row>([
  { events: '3', expected: [undefined], because: 'a new process knows no count' },
  { events: '3 4', expected: [undefined, 3], because: 'this process did not set 4' },
  { events: '3 4 4', expected: [undefined, 3, undefined], because: 'a change is reported once' },
  { events: '3 =5 5', expected: [undefined, undefined], because: 'this process set 5' },
  { events: '3 =5 3 5', expected: [undefined, undefined, undefined], because: 'ECS shows a write late' },
  { events: '3 =5 3 =6 5 6', expected: Array(4).fill(undefined), because: 'ECS shows two writes late' },
  { events: '3 =5 =6 =5 6 5', expected: Array(3).fill(undefined), because: 'this process set each of them' },
  { events: '3 =5 7', expected: [undefined, 5], because: '7 is neither the seen nor the set count' },
  {
    events: '3 =5 5 3',
    expected: [undefined, undefined, 5],
    because: 'someone else reverted a write that was seen',
  },
  { events: '3 =3 5', expected: [undefined, 3], because: 'a write of the same count changes nothing' },
  { events: '=5 7', expected: [undefined], because: 'a process that never saw a count cannot compare' },
])('reports changes from $expected for the events $events: $because', ({ events, expected }) => {
  const counts = new DesiredCounts();
  const changes = events.split(' ').flatMap((word) => {
    if (!word.startsWith('=')) return [{ from: counts.compare(seen(Number(word))).changedFrom }];
    counts.willSet(serviceArn, Number(word.slice(1)));
    return [];
  });
  expect(changes.map(({ from }) => from)).toEqual(expected);
});
