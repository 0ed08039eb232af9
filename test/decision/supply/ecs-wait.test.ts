/** What shows that ECS waits after failed starts, and when a person may end the wait with a deployment. */
import { describe, expect, it } from 'vitest';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { reasonSentence } from '../../../lambda/explain/reason-text.ts';
import { taskArn } from '../../support/picture.ts';
import {
  all,
  type Change,
  codesInWords,
  iso,
  listIs,
  planOf,
  poolOf,
  serviceIs,
} from '../../support/planned.ts';
import { table } from '../../support/table.ts';

type FailedTask = { readonly startedAt?: string; readonly stopCode?: string; readonly lastStatus?: string };

/** A task that ended so many seconds ago, by default without having run. */
const failed =
  (seconds: number, fields: FailedTask = {}): Change =>
  ({ ecs }) =>
    void ecs.tasks.items.push({
      ...{ taskArn: taskArn('cpu', 100 + seconds), group: 'service:Stack-cpu', containers: [] },
      ...{ lastStatus: 'STOPPED', desiredStatus: 'STOPPED', stopCode: 'TaskFailedToStart' },
      ...{ createdAt: iso(seconds + 30), stoppedAt: iso(seconds), stoppedReason: 'CannotPullContainerError' },
      ...fields,
    });

const deployments = (...each: readonly object[]): Change =>
  serviceIs({
    deployments: each.map((fields, index) => ({ id: `${index}`, rolloutState: 'COMPLETED', ...fields })),
  });
const RAN = { startedAt: iso(200), stopCode: 'EssentialContainerExited' };
const event = (message: string): Change =>
  serviceIs({ events: [{ createdAt: iso(200), message: `(service Stack-cpu) ${message}` }] });
const leftOut = (name: 'services' | 'tasks', of?: string): Change =>
  listIs(name, {
    status: 'truncated',
    error: 'a row',
    leftOut: [{ row: 'arn', why: 'no name', ...(of && { of }) }],
  });

const FAILED = failed(300);
const WAITS = 'cpu, desired 1; job';

const waitIn = (world: string, change: Change) =>
  planOf(world, change).findings.find(({ code }) => code === 'starts-throttled');

describe('ECS waits', () => {
  it.each(table<{ world: string; change: Change; waitedMs: number | undefined; because: string }>`
    world               | change                                  | waitedMs     | because
    ${WAITS}            | ${FAILED}                               | ${300_000}   | the newest task failed five minutes ago, and none has come since
    ${WAITS}            | ${all(FAILED, failed(900))}             | ${300_000}   | the newest one counts
    ${WAITS}            | ${failed(60)}                           | ${60_000}    | ECS creates a task within seconds
    ${WAITS}            | ${failed(59)}                           | ${undefined} | it may do so yet
    ${WAITS}            | ${failed(1800)}                         | ${1_800_000} | it waits for 27 minutes at most
    ${WAITS}            | ${failed(1801)}                         | ${undefined} | so this is something else
    ${WAITS}            | ${() => {}}                             | ${undefined} | no task has failed
    ${WAITS}            | ${failed(300, RAN)}                     | ${undefined} | it waits only after tasks that never ran
    ${WAITS}            | ${all(FAILED, failed(100, RAN))}        | ${undefined} | a task has run since
    cpu B, desired 2; 2 jobs | ${FAILED}                          | ${300_000}   | one has run before
    cpu N, desired 2; 2 jobs | ${FAILED}                          | ${undefined} | one runs since
    cpu; job            | ${FAILED}                               | ${undefined} | no task was desired before this look
    cpu P; job          | ${FAILED}                               | ${undefined} | it tries again
    ${WAITS}            | ${all(FAILED, deployments({ updatedAt: iso(40) }))} | ${undefined} | the count was raised 40 s ago
    ${WAITS}            | ${all(FAILED, deployments({ updatedAt: iso(70) }))} | ${300_000} | it was raised 70 s ago
    ${WAITS}            | ${all(FAILED, event('was unable to place a task. Reason: quota.'))} | ${undefined} | ECS cannot place a task
    ${WAITS}            | ${all(FAILED, serviceIs({ shortage: { lastedMs: 900_000, until: iso(0) } }))} | ${300_000} | without an event, its wait is why tasks are missing
  `)('for $waitedMs ms in $world: $because', ({ world, change, waitedMs }) => {
    expect(waitIn(world, change)).toEqual(
      waitedMs === undefined
        ? undefined
        : expect.objectContaining({ pool: 'cpu', service: 'Stack-cpu', waitedMs }),
    );
  });

  it('is no failure to place tasks', () => {
    const silent = all(FAILED, serviceIs({ shortage: { lastedMs: 900_000, until: iso(0) } }));
    const plan = planOf(WAITS, silent);
    expect(plan.findings.map(({ code }) => code)).toEqual([
      'starts-failing',
      'starts-throttled',
      'jobs-about-to-fail',
    ]);
    expect(codesInWords(poolOf(plan, 'cpu').why)).toBe(
      'pending-jobs jobs 1, starts-failing failures 1 tries few wanted 1 granted 1 reason CannotPullContainerError, starts-throttled tasks 1 since 2026-11-20T08:55:00.000Z waitedMs 300000',
    );
  });
});

describe('a person may end the wait', () => {
  it.each(table<{ world: string; change: Change; before: readonly string[]; because: string }>`
    world                    | change                                       | before      | because
    ${WAITS}                 | ${FAILED}                                    | ${[]}       | nothing is in the way
    ${WAITS}                 | ${all(FAILED, leftOut('tasks', 'service:Stack-gpu'))} | ${[]} | the row is of another service
    ${WAITS}                 | ${all(FAILED, leftOut('tasks'))}             | ${['lists-are-whole']} | a task may be hidden
    ${WAITS}                 | ${all(FAILED, leftOut('services', 'cpu'))}   | ${['lists-are-whole']} | a service of the pool is hidden
    ${WAITS}                 | ${all(FAILED, deployments({}, {}))}          | ${['deployment-is-completed']} | ECS replaces another deployment
    ${WAITS}                 | ${all(FAILED, deployments({ rolloutState: 'IN_PROGRESS' }))} | ${['deployment-is-completed']} | the circuit breaker would roll back
    ${WAITS}                 | ${all(FAILED, deployments({ rolloutState: 'FAILED' }))} | ${['deployment-is-completed']} | it has rolled back
    cpu B, desired 2; 2 jobs | ${FAILED}                                    | ${['tasks-have-stopped']} | a build would hold the deployment open
    ${WAITS}                 | ${all(FAILED, failed(900, { lastStatus: 'DEPROVISIONING' }))} | ${['tasks-have-stopped']} | a task still stops
    cpu B, desired 2, deploying; 2 jobs | ${all(FAILED, leftOut('tasks'))} | ${['lists-are-whole', 'deployment-is-completed', 'tasks-have-stopped']} | all three
  `)('after $before in $world: $because', ({ world, change, before }) => {
    expect(waitIn(world, change)).toMatchObject({ before });
  });

  it('with a command that names cluster and service, or reads what to wait for', () => {
    const textOf = (world: string, change: Change): string =>
      findingLines([waitIn(world, change)].flatMap((it) => it ?? [])).join('\n');
    const start =
      'pool "cpu": after failed starts ECS waits before its next try, for 5 min now and 27 min at most. ';
    expect(textOf(WAITS, FAILED)).toBe(
      `${start}Once the cause is mended, end this wait: \`aws ecs update-service --cluster coder --service Stack-cpu --force-new-deployment\``,
    );
    expect(textOf('cpu B, desired 2, deploying; 2 jobs', FAILED)).toBe(
      `${start}Do not end this wait with a deployment before its only deployment is completed and its tasks have stopped`,
    );
  });

  it('which the line of the pool names too', () => {
    const reason = poolOf(planOf(WAITS, FAILED), 'cpu').why.find(({ code }) => code === 'starts-throttled');
    expect(reason && reasonSentence(reason)).toBe(
      'ECS has not tried to start 1 task for 5 min, since a start failed at 20 November 2026 08:55:00 UTC. It waits longer after each failure, up to 27 min',
    );
  });
});
