/** A deployment in the middle of the day: old tasks are replaced, a share at a time, and no build is killed. */
import { afterEach, describe, expect, test } from 'vitest';
import type { DeploymentBlocked } from '../../lab/ecs/protection.ts';
import { cleanTick, type Lab, startLab } from '../support/lab.ts';

let lab: Lab | undefined;
afterEach(() => lab?.close());

const MINUTE_MS = 60_000;

function isDeployed({ world }: Lab, pool: string): boolean {
  const { primary, older } = world.service(pool).state;
  return older.length === 0 && primary.rolloutState === 'COMPLETED';
}

function revisionsOf({ world }: Lab, pool: string): readonly number[] {
  return [...world.service(pool).tasks].map(({ identity }) => identity.definition.revision);
}

function submit({ world }: Lab, count: number, minutes: (index: number) => number): void {
  for (let index = 0; index < count; index++)
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: minutes(index) * MINUTE_MS });
}

const READINGS: readonly DeploymentBlocked[] = ['off', 'new-only', 'all'];

describe.each(READINGS)('with DEPLOYMENT_BLOCKED read as %s', (deploymentBlocked) => {
  test.each([1, 2, 3])('a deployment among long builds ends, seed %i', async (seed) => {
    lab = await startLab({
      pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, min: 2, warm: 1 }],
      deploymentBlocked,
      victims: 'worst',
      readLagMs: 3_000,
      seed,
    });
    const { world } = lab;
    submit(lab, 8, (index) => 5 + 4 * index);
    await lab.run(300);
    world.deploy('cpu');
    const ports = lab.ports();
    let minutes = 0;
    for (; minutes < 180 && !isDeployed(lab, 'cpu'); minutes += 1) {
      if (minutes % 10 === 0) submit(lab, 2, (index) => 1 + 8 * index);
      for (let look = 0; look < 6; look++) {
        lab.pass(10);
        await cleanTick(ports, lab.config);
      }
    }
    expect(minutes).toBeLessThan(90);
    expect(new Set(revisionsOf(lab, 'cpu'))).toEqual(new Set([2]));
    await lab.run(1_500);
    expect(world.coderd.jobs().every(({ status }) => status === 'succeeded')).toBe(true);
    expect(world.figures().killed).toBe(0);
    expect(revisionsOf(lab, 'cpu')).toEqual([2, 2]);
    expect(world.service('cpu').state.desiredCount).toBe(2);
  });
});
