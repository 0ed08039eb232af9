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
  readonly story: string;
  readonly expected: readonly (number | undefined)[];
  readonly because: string;
};

/** `3` is a look that sees 3, `=5` a write of 5. */
it.each<Row>([
  { story: '3', expected: [undefined], because: 'a new process knows no count' },
  { story: '3 4', expected: [undefined, 3], because: 'nobody here set 4' },
  { story: '3 4 4', expected: [undefined, 3, undefined], because: 'a change is told once' },
  { story: '3 =5 5', expected: [undefined, undefined], because: '5 is its own' },
  { story: '3 =5 3 5', expected: [undefined, undefined, undefined], because: 'ECS shows a write late' },
  { story: '3 =5 3 =6 5 6', expected: Array(4).fill(undefined), because: 'ECS shows two writes late' },
  { story: '3 =5 =6 =5 6 5', expected: Array(3).fill(undefined), because: 'each of them was its own' },
  { story: '3 =5 7', expected: [undefined, 5], because: 'neither 3 nor 5 is 7' },
  {
    story: '3 =5 5 3',
    expected: [undefined, undefined, 5],
    because: 'the own write was seen, and taken back',
  },
  { story: '3 =3 5', expected: [undefined, 3], because: 'a write of what is there changes nothing' },
  { story: '=5 7', expected: [undefined], because: 'what was never seen can not be compared' },
])('$story: changed from $expected, because $because', ({ story, expected }) => {
  const counts = new DesiredCounts();
  const changes = story.split(' ').flatMap((word) => {
    if (!word.startsWith('=')) return [{ from: counts.compare(seen(Number(word))).changedFrom }];
    counts.willSet(serviceArn, Number(word.slice(1)));
    return [];
  });
  expect(changes.map(({ from }) => from)).toEqual(expected);
});
