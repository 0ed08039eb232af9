/** Where the waits of jobs went, as the looks of one process tell it, against the world's own times. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Job } from '../../../lambda/decision/model/snapshot.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import type { Lab } from '../../support/lab.ts';
import { startWorld, submit, told } from './world.ts';

/** The same look, whose record has other jobs; undefined: it has no record. */
const withRecent =
  (change: ((job: Job) => Job) | undefined) =>
  (look: LookResult): LookResult => {
    const organizations = look.snapshot.coder.organizations.map(({ recentJobs, ...organization }) => ({
      ...organization,
      ...(change && recentJobs && { recentJobs: { ...recentJobs, items: recentJobs.items.map(change) } }),
    }));
    const { snapshot } = look;
    return { ...look, snapshot: { ...snapshot, coder: { ...snapshot.coder, organizations } } };
  };

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

  it('count as held from the first look that saw the job, unless that look requested its task', async () => {
    const world = await startWorld();
    const before = await world.run(10);
    submit(world);
    const looks = await world.run(400);
    const seen = looks.slice(0, 1).map(({ snapshot, outcome, ...look }) => {
      const takenAt = plusMs(snapshot.takenAt, -4_000);
      return { ...look, snapshot: { ...snapshot, takenAt }, outcome: { ...outcome, applied: [] } };
    });
    expect(told([...before, ...looks], 1).waits[0]?.parts).not.toHaveProperty('held');
    expect(told([...before, ...seen, ...looks], 1).waits[0]?.parts.held).toBe(4_001);
    // another process requested it
    expect(told([...before, ...looks.slice(1)]).waits[0]?.parts).toHaveProperty('notLaunched');
  });

  it('are not told for a job that coderd failed while it waited', async () => {
    const world = await startWorld({ max: 1 });
    const looks = [...(await world.run(10))];
    submit(world, 7_200_000);
    looks.push(...(await world.run(200)));
    const late = submit(world);
    looks.push(...(await world.run(2_700)));
    expect(world.world.coderd.job(late)?.status).toBe('failed');
    // a look has asked coderd how it ended
    expect(told(looks)).toMatchObject({ waits: [{}], missed: 0 });
    // it may have started, as long as no list tells that it ended
    expect(told(looks.map(withRecent(undefined)))).toMatchObject({ waits: [{}], missed: 1 });
    const end = (job: Job): Job =>
      job.id === late ? { ...job, started_at: job.created_at, completed_at: job.created_at } : job;
    expect(told(looks.map(withRecent(end)))).toMatchObject({ waits: [{}], missed: 0 });
  });

  it('are not missing for an unschedulable job that coderd failed', async () => {
    const world = await startWorld();
    const looks = [...(await world.run(10))];
    const job = { organization: 'default', tags: { no: 'pool' }, durationMs: 1_000 } as const;
    const id = world.world.coderd.submitJob({ ...job, type: 'template_version_import' });
    looks.push(...(await world.run(2_600)));
    expect(world.world.coderd.job(id)?.status).toBe('failed');
    expect(told(looks)).toMatchObject({ waits: [], missed: 0 });
  });
});
