/**
 * An upgrade from 0.2 of a pool with `scaleIn: confirm`. Its tasks have no guard, and the function protects a
 * task that builds for half an hour at a time. A deployment brings the guard. ECS then stops each old task
 * that nothing protects.
 */
import { describe, expect, it } from 'vitest';
import type { DeploymentBlocked } from '../../../lab/world/ecs/protection.ts';
import { expectNoHarm, submit } from '../../support/builds.ts';
import { type Lab, type LabPool, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

// if ECS refuses renewals too, nobody can keep such a build: docs/upgrade.md says what to do before the upgrade
const READINGS: readonly DeploymentBlocked[] = ['off', 'new-only'];
const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 4, image: 'bare' };

/** Four tasks without a guard: two that build, for so many minutes, and two idle ones. */
async function withBareTasks(minutes: readonly number[], deploymentBlocked: DeploymentBlocked = 'off') {
  const on = await startLongLab({ pools: [cpu], victims: 'worst', readLagMs: 3_000, deploymentBlocked });
  on.pass(120);
  submit(on, minutes.length, (index) => minutes[index] ?? 1);
  on.pass(60);
  return on;
}

/** As the function of 0.2: half an hour for each task that builds. */
function protectBusy({ world }: Lab): void {
  for (const { isBusy, identity } of world.ecs.tasks()) if (isBusy) world.ecs.protect(identity.id, 30);
}

/** The revision of each task. The second one has the guard. */
const revisions = ({ world }: Lab) =>
  [...world.service('cpu').tasks].map(({ identity }) => identity.definition.revision);

async function expectGuardedTasks(on: Lab): Promise<void> {
  submit(on, 2, () => 60);
  await on.invoke(10);
  expect(revisions(on)).toEqual([2, 2]);
  await on.rest(90);
  expectNoHarm(on);
  expect(revisions(on)).toEqual([]);
}

describe.each(rows(READINGS, 2))('an upgrade from 0.2 with DEPLOYMENT_BLOCKED read as %s', (reading) => {
  it('kills no build of 50 or 100 minutes, nor one that an idle task with a protection takes', async () => {
    const on = await withBareTasks([50, 100, 3], reading);
    protectBusy(on);
    on.world.addGuard('cpu');
    await on.invoke(10);
    submit(on, 1, () => 50);
    for (let passed = 0; passed < 160; passed += 40) {
      await on.invoke(40);
      submit(on, 1, () => 5);
    }
    await on.invoke(10);
    await expectGuardedTasks(on);
  });
});

it('protects builds that begin without a protection before the deployment, and then too', async () => {
  const on = await withBareTasks([50]);
  await on.invoke(30);
  submit(on, 2, (index) => 40 + 20 * index);
  await on.invoke(30);
  on.world.addGuard('cpu');
  await on.invoke(60);
  await expectGuardedTasks(on);
});

it.each([
  { prefix: 'x', because: 'no pool gives its daemons such a name' },
  { prefix: 'cpu', because: 'either of the two may be the daemon of the task' },
])('stops no building task for an idle daemon named $prefix-<task id>: $because', async ({ prefix }) => {
  const on = await withBareTasks([90]);
  const { coderd, ecs, secrets } = on.world;
  const busy = ecs.tasks().find(({ isBusy }) => isBusy);
  protectBusy(on);
  const key = secrets.find('coder/keys/cpu')?.value ?? '';
  coderd.connect({ key, name: `${prefix}-${busy?.identity.id}`, version: coderd.version.text });
  on.world.addGuard('cpu');
  await on.rest(120);
  expectNoHarm(on);
});
