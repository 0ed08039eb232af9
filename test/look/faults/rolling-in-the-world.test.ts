/**
 * A deployment during the day. Old tasks are replaced, a share at a time, and no build is killed.
 */
import { describe, expect, it } from 'vitest';
import type { DeploymentBlocked } from '../../../lab/world/ecs/protection.ts';
import { CLEANUPS, ROLLOUTS, type RolloutReading } from '../../../lab/world/ecs/rollout.ts';
import type { EcsTask } from '../../../lab/world/ecs/task.ts';
import { expectNoHarm, submit } from '../../support/builds.ts';
import { cleanLook, type Lab, type LabOptions, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const UNBLOCKED: readonly DeploymentBlocked[] = ['off', 'new-only'];
const READINGS: readonly DeploymentBlocked[] = [...UNBLOCKED, 'all'];
const [newest = {}] = ROLLOUTS;
const both: RolloutReading = { replacement: 'same', scaleOut: 'both' };

function isDeployed({ world }: Lab, pool: string): boolean {
  const { primary, older } = world.service(pool).state;
  return older.length === 0 && primary.rolloutState === 'COMPLETED';
}

function revisionsOf({ world }: Lab, pool: string): readonly number[] {
  return [...world.service(pool).tasks].map(({ identity }) => identity.definition.revision);
}

function oldTasks({ world }: Lab): readonly EcsTask[] {
  const { tasks, state } = world.service('cpu');
  return [...tasks].filter(({ identity }) => identity.startedBy !== state.primary.id);
}

/** A pool with at least two daemons, and a deployment five minutes after eight builds began. */
async function deployAmongBuilds(options: Partial<LabOptions>, earlySuccessPercent?: number): Promise<Lab> {
  const early = earlySuccessPercent === undefined ? {} : { earlySuccessPercent };
  const pool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, min: 2, warm: 1, ...early };
  const started = await startLongLab({ pools: [pool], victims: 'worst', readLagMs: 3_000, ...options });
  submit(started, 8, (index) => 5 + 4 * index);
  await started.run(300);
  started.world.deploy('cpu');
  return started;
}

type Rollout = { readonly minutes: number; readonly successAfter: number; readonly mostTasks: number };

/**
 * Looks until no old task is left, while more builds come. `crash`: old idle daemons crash at
 * times.
 */
async function rollOut(on: Lab, crash: boolean): Promise<Rollout> {
  const ports = on.ports();
  const service = on.world.service('cpu');
  let successAfter = Number.POSITIVE_INFINITY;
  let mostTasks = 0;
  let minutes = 0;
  for (; minutes < 180 && !isDeployed(on, 'cpu'); minutes += 1) {
    if (minutes % 10 === 0) submit(on, 2, (index) => 1 + 8 * index);
    if (crash && minutes < 10) crashIdle(on);
    for (let look = 0; look < 3; look++) {
      on.pass(20);
      await cleanLook(ports, on.config);
      mostTasks = Math.max(mostTasks, service.tasks.size);
    }
    if (service.state.primary.rolloutState === 'COMPLETED') successAfter = Math.min(successAfter, minutes);
  }
  return { minutes, successAfter, mostTasks };
}

/** Crashes one old daemon without a job. */
function crashIdle(on: Lab): void {
  const daemons = oldTasks(on).map(({ identity }) => on.world.guard(identity.id)?.daemon);
  daemons.find((daemon) => daemon?.isBusy === false)?.crash(137);
}

/** Expects that all builds succeeded, and that the pool is at its floor with the new revision. */
async function expectRest(on: Lab): Promise<void> {
  const { world } = on;
  await on.rest(25);
  expect(world.coderd.jobs().every(({ status }) => status === 'succeeded')).toBe(true);
  expect(world.figures().killed).toBe(0);
  expect(revisionsOf(on, 'cpu')).toEqual([2, 2]);
  expect(world.service('cpu').state.desiredCount).toBe(2);
}

describe.each(rows(READINGS, 2))('with DEPLOYMENT_BLOCKED read as %s', (deploymentBlocked) => {
  it('completes a deployment although ECS replaces old tasks with old ones and raises both revisions', async () => {
    // ECS starts old tasks in place of old ones until chance ends that: with other seeds up to three hours
    const on = await deployAmongBuilds({ deploymentBlocked, rollout: both, seed: 2 });
    const { minutes } = await rollOut(on, true);
    expect(minutes).toBeLessThan(90);
    await expectRest(on);
  });
});

describe('a deployment that a build of two hours holds open', () => {
  const tags = { cluster: 'gpu' };
  const pool = { organization: 'default', desiredCount: 0, max: 10 };

  // where ECS refuses renewals too, the guards of old tasks drain by themselves
  it.each(rows(UNBLOCKED.toReversed(), 1))(
    'leaves old tasks to short jobs and tries one start an hour, with DEPLOYMENT_BLOCKED read as %s',
    async (deploymentBlocked) => {
      const on = await startLongLab({ pools: [{ ...pool, name: 'gpu', tags, min: 4 }], deploymentBlocked });
      submit(on, 1, () => 120, tags);
      await on.run(600);
      on.world.deploy('gpu');
      for (let passed = 0; passed < 100; passed += 10) {
        submit(on, 2, () => 5, tags);
        await on.run(600);
      }
      await on.rest(60);
      expect(isDeployed(on, 'gpu')).toBe(true);
      expectNoHarm(on);
      expect(on.world.figures().tasks.launched).toBeLessThan(15);
    },
  );
});

describe('a deployment that ECS completes early', () => {
  const readings = CLEANUPS.map((cleanup, index) => ({
    cleanup,
    rollout: ROLLOUTS[index % ROLLOUTS.length] ?? newest,
    text: Object.entries(cleanup).flatMap(([name, holds]) => (holds ? [name] : [])),
  }));

  it.each(rows(readings, 2))('drains old tasks and keeps the count bounded if ECS $text', async (reading) => {
    const { cleanup, rollout } = reading;
    const on = await deployAmongBuilds({ deploymentBlocked: 'all', cleanup, rollout }, 1);
    const { minutes, successAfter, mostTasks } = await rollOut(on, true);
    expect(minutes).toBeLessThan(90);
    expect(successAfter).toBeLessThan(minutes);
    // eight old tasks with builds, and the new tasks that the pool would have without them
    expect(mostTasks).toBeLessThan(25);
    await expectRest(on);
  });
});
