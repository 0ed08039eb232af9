/** When one task launches first, because its role is new and AWS may refuse it a lease. */
import { expect, it } from 'vitest';
import type { EpochMs, TaskArn } from '../../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Service, Task } from '../../../lambda/decision/model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { isRoleUntried } from '../../../lambda/decision/supply/bound-role.ts';
import type { Start } from '../../../lambda/decision/supply/starts.ts';

const NOW = 1_772_442_000_000 as EpochMs;

type Row = {
  readonly isBound?: boolean;
  /** Of the present deployment, in hours; undefined: ECS does not tell. */
  readonly ageHours?: number | undefined;
  /** `old` or `new`, then what it has had: a lease or a daemon. */
  readonly tasks?: readonly string[];
  readonly expected: boolean;
  readonly because: string;
};

it.each<Row>([
  { expected: true, because: 'nothing shows that AWS accepts the role' },
  { isBound: false, expected: false, because: 'the role is not bound' },
  { tasks: ['new'], expected: true, because: 'its first task has no lease yet' },
  { tasks: ['new lease'], expected: false, because: 'a task holds a lease' },
  { tasks: ['new daemon'], expected: false, because: 'a task had a daemon, so it had a lease' },
  { tasks: ['old lease', 'old daemon'], expected: true, because: 'old tasks have the role before it' },
  { tasks: ['old lease', 'new lease'], expected: false, because: 'one of both is new' },
  { ageHours: 23, expected: true, because: 'the deployment is of this day' },
  { ageHours: 24, expected: false, because: 'a quiet night must not slow down each morning' },
  { ageHours: undefined, expected: true, because: 'it may be young' },
])('is $expected: $because', ({ isBound = true, ageHours, tasks = [], expected, ...row }) => {
  const age = 'ageHours' in row || ageHours !== undefined ? ageHours : 1;
  const createdAt = age === undefined ? undefined : ((NOW - age * HOUR_MS) as EpochMs);
  const all = tasks.map((word, index): Task => {
    const [revision, had] = word.split(' ');
    return {
      taskArn: `arn:aws:ecs:r:1:task/c/${index}-${had}` as TaskArn,
      taskDefinitionArn: revision === 'new' ? 'f:2' : 'f:1',
      lastStatus: 'RUNNING',
      desiredStatus: 'RUNNING',
      containers: [],
    };
  });
  const service = {
    taskDefinition: 'f:2',
    deployments: [{ status: 'PRIMARY', id: 'd', ...(createdAt && { createdAt }) }],
  } as unknown as Service;
  const starts = all.map((task): Start => {
    const { taskArn } = task;
    return {
      task,
      registered: taskArn.endsWith('daemon') ? NOW : 'never',
      leasedAt: taskArn.endsWith('lease') ? NOW - MINUTE_MS : undefined,
    };
  });
  const pool = { bindTaskRole: isBound } as PoolConfig;
  expect(isRoleUntried(pool, starts, service, NOW)).toBe(expected);
});
