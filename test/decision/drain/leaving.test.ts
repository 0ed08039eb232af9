import { describe, expect, it } from 'vitest';
import { decide as decidePlan } from '../../../lambda/decision/decide.ts';
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
import { inWords } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/**
 * A working task with a daemon that has been idle for this many minutes, or for an unknown time.
 */
type Idle = {
  readonly minutes: number | 'unknown';
  readonly revision?: string;
  readonly isBusy?: true;
  readonly zone?: string;
};

/** `20m old zone-b` */
function idleOf(text: string): Idle {
  const [time = '', ...marks] = text.split(' ');
  return {
    minutes: time === '?' ? 'unknown' : Number.parseInt(time, 10),
    ...(marks.includes('busy') ? { isBusy: true } : {}),
    ...(marks.includes('old') ? { revision: 'cpu:1' } : {}),
    ...(marks.includes('zone-b') ? { zone: 'b' } : {}),
  };
}

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

const actions = (snapshot: Snapshot) => decidePlan(snapshot, aConfig(aPool())).actions;

/** The decisions in order: `leave 1`, `keep 0`. */
function decide(idle: readonly Idle[], spare: number): readonly string[] {
  const [view] = deriveSupply(worldOf(idle), aConfig(aPool()));
  if (view === undefined) throw new Error('no pool');
  return decideLeaving(view, spare, NOW).map(
    ({ kind, task }) => `${kind} ${idle.findIndex((_, index) => arnOf(index) === task.task.taskArn)}`,
  );
}

describe('drain requests', () => {
  it.each(table<{ idle: string; spare: number; expected: string; because: string }>`
    idle                     | spare | expected         | because
    9m, 10m                  | 2     | leave 1, keep 0  | idleTimeout is inclusive, and the task idle for longest drains first
    60m, 20m old             | 1     | leave 1          | old revisions go before new ones
    20m old, 60m old         | 1     | leave 1          | among them the task idle for longest drains first
    ?, 1m                    | 2     | keep 1, keep 0   | an unknown time does not count as long, and comes last
    20m, 20m                 | 1     | leave 0          | one order decides, always the same
    20m, 30m, 60m zone-b     | 1     | leave 1          | the zones stay balanced, and in the zone the task idle for longest drains
    60m zone-b, 20m, 5m busy | 2     | leave 1, leave 0 | those that stay count for their zone
    20m, 30m zone-b          | 1     | leave 1          | then the task idle for longest drains first
    20m, 30m, 11m old zone-b | 1     | leave 2          | old revisions go before anything else
    60m busy, 20m            | 2     | leave 1          | a busy daemon never gets a drain request
    60m                      | 0     | nothing          | the floor keeps it
    60m, 60m                 | -1    | nothing          | the floor keeps all
  `)('are $expected for $idle with $spare to spare, because $because', ({ idle, spare, expected }) => {
    expect(inWords(decide(idle.split(', ').map(idleOf), spare))).toBe(expected);
  });

  it('go to no task whose last request ECS has just refused', () => {
    const snapshot = worldOf([idleOf('60m old'), idleOf('60m old')]);
    const remembered = { mismatches: {}, refused: [arnOf(0)] };
    const asked = (of: Snapshot) =>
      actions(of).flatMap((action) => (action.kind === 'ask-to-leave' ? [action.task] : []));
    expect(asked(snapshot)).toEqual([arnOf(0), arnOf(1)]);
    expect(asked({ ...snapshot, remembered })).toEqual([arnOf(1)]);
    const { why } = decidePlan({ ...snapshot, remembered }, aConfig(aPool())).pools[0] ?? { why: [] };
    expect(why).toContainEqual({ code: 'old-revision', tasks: 2, asked: 0 });
  });
});
