import { describe, expect, it } from 'vitest';
import { decideLeaving } from '../../../lambda/decision/drain/leaving.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aJob,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
  aTask,
  daemonId,
  jobId,
  MINUTE,
  NOW,
  reading,
  taskIdOf,
} from '../../support/parts.ts';

/**
 * A working task with a daemon that has been idle for this many minutes, or for an unknown time.
 */
type Idle = {
  readonly minutes: number | 'unknown';
  readonly revision?: string;
  readonly isBusy?: true;
  readonly zone?: string;
};

function worldOf(idle: readonly Idle[]): Snapshot {
  return aSnapshot({
    services: [aService({ desiredCount: idle.length, taskDefinition: 'cpu:2' })],
    tasks: idle.map(({ revision = 'cpu:2', zone = 'a' }, index) =>
      aTask({ taskArn: arnOf(index), taskDefinitionArn: revision, availabilityZone: zone }),
    ),
    protections: idle.map((_, index) => aLease({ taskArn: arnOf(index) })),
    organizations: [
      anOrganization({
        daemons: reading(
          idle.map(({ isBusy }, index) =>
            aDaemon({
              id: daemonId(`d${index}`),
              name: `cpu-${taskIdOf(index)}`,
              status: isBusy ? 'busy' : 'idle',
              previous_job: { id: jobId(`p${index}`), status: 'succeeded' },
            }),
          ),
        ),
        previousJobs: reading(
          idle.map(({ minutes }, index) =>
            aJob({
              id: jobId(`p${index}`),
              ...(minutes === 'unknown' ? {} : { completed_at: ago(minutes * MINUTE) }),
            }),
          ),
        ),
      }),
    ],
  });
}

/** The decisions in order: `leave 1`, `keep 0`. */
function decide(idle: readonly Idle[], spare: number): readonly string[] {
  const [view] = deriveSupply(worldOf(idle), aConfig(aPool()));
  if (view === undefined) throw new Error('no pool');
  return decideLeaving(view, spare, NOW).map(
    ({ kind, task }) => `${kind} ${idle.findIndex((_, index) => arnOf(index) === task.task.taskArn)}`,
  );
}

describe('drain requests', () => {
  it.each<{
    scenario: string;
    idle: readonly Idle[];
    spare: number;
    expected: readonly string[];
    because: string;
  }>([
    {
      scenario: '9 and 10 min',
      idle: [{ minutes: 9 }, { minutes: 10 }],
      spare: 2,
      expected: ['leave 1', 'keep 0'],
      because: 'idleTimeout is inclusive, and the task idle for longest drains first',
    },
    {
      scenario: 'old revisions',
      idle: [{ minutes: 60 }, { minutes: 20, revision: 'cpu:1' }],
      spare: 1,
      expected: ['leave 1'],
      because: 'old revisions go before new ones',
    },
    {
      scenario: 'two of an old revision',
      idle: [
        { minutes: 20, revision: 'cpu:1' },
        { minutes: 60, revision: 'cpu:1' },
      ],
      spare: 1,
      expected: ['leave 1'],
      because: 'among them the task idle for longest drains first',
    },
    {
      scenario: 'one idle for an unknown time',
      idle: [{ minutes: 'unknown' }, { minutes: 1 }],
      spare: 2,
      expected: ['keep 1', 'keep 0'],
      because: 'an unknown time does not count as long, and comes last',
    },
    {
      scenario: 'idle equally long',
      idle: [{ minutes: 20 }, { minutes: 20 }],
      spare: 1,
      expected: ['leave 0'],
      because: 'one order decides, always the same',
    },
    {
      scenario: 'one in the zone that has two',
      idle: [{ minutes: 20 }, { minutes: 30 }, { minutes: 60, zone: 'b' }],
      spare: 1,
      expected: ['leave 1'],
      because: 'the zones stay balanced, and in the zone the task idle for longest drains',
    },
    {
      scenario: 'one in a zone with a busy one',
      idle: [{ minutes: 60, zone: 'b' }, { minutes: 20 }, { minutes: 5, isBusy: true }],
      spare: 2,
      expected: ['leave 1', 'leave 0'],
      because: 'those that stay count for their zone',
    },
    {
      scenario: 'zones that are even',
      idle: [{ minutes: 20 }, { minutes: 30, zone: 'b' }],
      spare: 1,
      expected: ['leave 1'],
      because: 'then the task idle for longest drains first',
    },
    {
      scenario: 'an old one in an empty zone',
      idle: [{ minutes: 20 }, { minutes: 30 }, { minutes: 11, zone: 'b', revision: 'cpu:1' }],
      spare: 1,
      expected: ['leave 2'],
      because: 'old revisions go before anything else',
    },
    {
      scenario: 'a busy one',
      idle: [{ minutes: 60, isBusy: true }, { minutes: 20 }],
      spare: 2,
      expected: ['leave 1'],
      because: 'a busy daemon never gets a drain request',
    },
    {
      scenario: 'none to spare',
      idle: [{ minutes: 60 }],
      spare: 0,
      expected: [],
      because: 'the floor keeps it',
    },
    {
      scenario: 'fewer than the floor',
      idle: [{ minutes: 60 }, { minutes: 60 }],
      spare: -1,
      expected: [],
      because: 'the floor keeps all',
    },
  ])('are $expected for $scenario, because $because', ({ idle, spare, expected }) => {
    expect(decide(idle, spare)).toEqual(expected);
  });
});
