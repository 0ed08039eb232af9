/** What the record of waits tells when a look could not read a list, or when it sees tasks of others. */
import { describe, expect, it } from 'vitest';
import type { EpochMs, JobId } from '../../../lambda/decision/model/brands.ts';
import type { OrganizationReadings, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { Lab } from '../../support/lab.ts';
import { startWorld, submit, told } from './world.ts';

const FAILED = { status: 'failed', error: 'timeout', items: [] } as const;

type Change = (snapshot: Snapshot) => Snapshot;
const ofEcs =
  (change: Partial<Snapshot['ecs']>): Change =>
  (snapshot) => ({ ...snapshot, ecs: { ...snapshot.ecs, ...change } });
const ecsFails = ofEcs({ services: FAILED, tasks: FAILED, protections: FAILED });
const ofCoder =
  (change: Partial<OrganizationReadings>): Change =>
  (snapshot) => ({
    ...snapshot,
    coder: {
      ...snapshot.coder,
      organizations: snapshot.coder.organizations.map((one) => ({ ...one, ...change })),
    },
  });

/** What a process tells about these looks if some of them see something else. */
const toldOf = (looks: readonly LookResult[], isChanged: (look: LookResult) => boolean, change: Change) =>
  told(looks.map((look) => (isChanged(look) ? { ...look, snapshot: change(look.snapshot) } : look)));

/** Whether the look comes in the first half minute after the start of the first job. */
const justStarted =
  (world: Lab, id: JobId) =>
  ({ snapshot }: LookResult): boolean => {
    const startedAt = world.world.coderd.job(id)?.startedAt ?? 0;
    return snapshot.takenAt >= startedAt && snapshot.takenAt < startedAt + 30_000;
  };

describe('the waits of jobs, if a list cannot be read', () => {
  it.each([
    { list: 'the list of services', change: ofEcs({ services: FAILED }) },
    { list: 'the list of tasks', change: ofEcs({ tasks: FAILED }) },
    { list: 'the list of daemons', change: ofCoder({ daemons: FAILED }) },
  ])('are told by a later look if $list cannot be read at the start', async ({ change }) => {
    const world = await startWorld();
    const before = await world.run(10);
    const id = submit(world);
    const looks = [...before, ...(await world.run(400))];
    const usual = toldOf(looks, () => false, change);
    expect(usual.waits).toHaveLength(1);
    expect(toldOf(looks, justStarted(world, id), change)).toEqual(usual);
  });

  it('count as missed if the tasks cannot be read for longer than ten minutes', async () => {
    const world = await startWorld();
    const before = await world.run(10);
    const id = submit(world);
    const looks = [...before, ...(await world.run(1_200))];
    const isAfter = ({ snapshot }: LookResult) =>
      snapshot.takenAt >= (world.world.coderd.job(id)?.startedAt ?? 0);
    expect(toldOf(looks, isAfter, ecsFails)).toEqual({ waits: [], missed: 1 });
  });

  it('do not count as missed while the list of jobs cannot be read', async () => {
    const world = await startWorld({ max: 1 });
    const looks = [...(await world.run(10))];
    submit(world, 1_200_000);
    const second = submit(world, 1_000);
    looks.push(...(await world.run(1_500)));
    const startedAt = world.world.coderd.job(second)?.startedAt ?? 0;
    const inOutage = ({ snapshot: { takenAt } }: LookResult) =>
      takenAt > startedAt - 1_000_000 && takenAt < startedAt - 60_000;
    const usual = toldOf(looks, () => false, ecsFails);
    expect(usual.waits.map(({ id }) => id)).toContain(second);
    const noJobs = ofCoder({ jobs: FAILED, previousJobs: FAILED });
    expect(toldOf(looks, inOutage, noJobs)).toEqual(usual);
  });
});

describe('the waits of jobs, if Lambda freezes the process', () => {
  it('are not told again if another process looked while this one was frozen', async () => {
    const world = await startWorld();
    const before = await world.run(10);
    const early = submit(world, 30_000);
    const meanwhile = await world.run(600);
    const late = submit(world);
    const after = await world.run(400);
    const both = toldOf([...before, ...meanwhile], () => false, ecsFails);
    expect(both.waits.map(({ id }) => id)).toEqual([early]);
    const { waits, missed } = toldOf([...before, ...after], () => false, ecsFails);
    expect(waits.map(({ id }) => id)).toEqual([late]);
    expect(waits[0]?.parts.unknown).toBeUndefined();
    expect(missed).toBe(0);
  });

  it.each([
    { ms: 180_000, waits: 2, missed: 0 },
    { ms: 180_001, waits: 0, missed: 2 },
    { ms: 900_000, waits: 0, missed: 0 },
  ])('are told or missed after $ms ms without a look: $waits told', async ({ ms, ...expected }) => {
    const world = await startWorld();
    submit(world);
    submit(world);
    const [first, ...looks] = await world.run(170);
    const isLast = (look: LookResult) => look === looks.at(-1);
    const takenAt = ((first?.snapshot.takenAt ?? 0) + ms) as EpochMs;
    const both = [first, looks.at(-1)].filter((look) => look !== undefined);
    const { waits, missed } = toldOf(both, isLast, (snapshot) => ({ ...snapshot, takenAt }));
    expect({ waits: waits.length, missed }).toEqual(expected);
  });
});

describe('the waits of jobs of another deployment', () => {
  it('are not told if its pool has the same name, and its tasks run in another cluster', async () => {
    const world = await startWorld();
    const looks = [...(await world.run(10))];
    submit(world);
    looks.push(...(await world.run(400)));
    const noTasks: Change = (snapshot) => ({
      ...snapshot,
      ecs: { ...snapshot.ecs, tasks: { ...snapshot.ecs.tasks, items: [] } },
    });
    expect(toldOf(looks, () => true, noTasks)).toEqual({ waits: [], missed: 0 });
  });
});
