/** Where the waits of jobs went, as the looks of one process tell it, against the world's own times. */
import { describe, expect, it } from 'vitest';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import { WaitRecord } from '../../../lambda/look/waits/wait-record.ts';
import type { Lab } from '../../support/lab.ts';
import { startWorld, submit } from './world.ts';

/** What the record of one process tells about these looks. */
function told(looks: readonly LookResult[], record = new WaitRecord()) {
  const all = looks.map((look) => record.after(look, 0));
  return {
    record,
    waits: all.flatMap(({ waits }) => waits),
    missed: all.reduce((total, { missed }) => total + missed, 0),
  };
}

const sumOf = ({ parts }: JobWait): number => Object.values(parts).reduce((all, ms) => all + ms, 0);

/** The parts that the world itself knows of the task that served a job. */
function truthOf({ world }: Lab, { task, startedAt }: JobWait) {
  const state = world.ecs.tasks().find(({ identity }) => identity.arn.endsWith(task ?? '-'))?.state;
  const { createdAt = 0, pullStartedAt = 0, pullStoppedAt = 0, startedAt: runningAt = 0 } = state ?? {};
  return {
    provisioning: pullStartedAt - createdAt,
    imagePull: pullStoppedAt - pullStartedAt,
    containerStart: runningAt - pullStoppedAt,
    registration: startedAt - runningAt,
  };
}

describe('the waits of jobs', () => {
  it('are told once for each job, with the parts of the task that served it', async () => {
    const world = await startWorld();
    const before = await world.run(10);
    const id = submit(world);
    const { waits, missed } = told([...before, ...(await world.run(400))]);
    expect(waits).toMatchObject([{ id, pool: 'cpu', organization: 'default', type: 'workspace_build' }]);
    const [wait] = waits;
    expect(wait?.parts).toMatchObject(truthOf(world, wait as JobWait));
    expect(Object.keys(wait?.parts ?? {})).toContain('launching');
    expect(missed).toBe(0);
  });

  it('add up to the time from submission until a daemon took the job', async () => {
    const world = await startWorld({ max: 2 });
    const looks = [...(await world.run(10))];
    const ids: string[] = [];
    for (let round = 0; round < 6; round++) {
      ids.push(submit(world), submit(world, 15_000));
      looks.push(...(await world.run(70)));
    }
    looks.push(...(await world.run(600)));
    const { waits, missed } = told(looks);
    expect(waits.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const wait of waits) {
      const { createdAt, startedAt = 0 } = world.world.coderd.job(wait.id) ?? { createdAt: 0 };
      expect(sumOf(wait)).toBe(startedAt - createdAt);
      expect(wait.waitMs).toBe(startedAt - createdAt);
    }
    expect(waits.filter(({ parts }) => parts.unknown !== undefined)).toEqual([]);
    expect(missed).toBe(0);
  });
});
