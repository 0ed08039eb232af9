/** Tasks that do not start as they should: frozen, with a deleted key, without a registry. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { promisedLook } from '../../../lambda/look/look.ts';
import { type Lab, type LabPool, startLongLab } from '../../support/lab.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, max: 40 };

async function start(pool: Partial<LabPool> = {}) {
  const lab = await startLongLab({ pools: [{ ...cpu, ...pool }] });
  const { world, run } = lab;
  return {
    ...lab,
    addJobs: (count: number) => {
      for (let index = 0; index < count; index++)
        world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE_MS });
    },
    look: (minutes: number) => run(60 * minutes, lab.ports(), 10),
    failStarts: (reason?: string) => world.ecs.failStarts(world.service('cpu').identity.name, reason),
  };
}

const launched = ({ world }: Lab): number => world.ecs.counts().launched;

/** The longest wait of a job for a daemon, in minutes; infinite while one waits. */
function longestWait({ world }: Lab): number {
  const waits = world.coderd
    .jobs()
    .map(({ createdAt, startedAt = Number.POSITIVE_INFINITY }) => startedAt - createdAt);
  return Math.max(...waits) / MINUTE_MS;
}

describe('a task that freezes as soon as it runs', () => {
  it('makes its job wait for four starts at most, where starts were learned', async () => {
    const on = await start();
    on.addJobs(3);
    await on.look(5);
    on.world.ecs.freezing = 1;
    on.addJobs(1);
    await on.look(2);
    on.world.ecs.freezing = 0;
    const looks = await on.look(8);
    expect(longestWait(on)).toBeLessThan(6);
    expect(launched(on)).toBe(5);
    expect(looks.flatMap(({ plan }) => plan.findings)).toContainEqual(
      expect.objectContaining({ code: 'starts-failing', pool: 'cpu', tasks: 1 }),
    );
    await on.look(20);
    expect(on.world.service('cpu').state.desiredCount).toBe(0);
  });

  it('costs one task at a time if all tasks freeze', async () => {
    const on = await start();
    on.addJobs(3);
    await on.look(5);
    on.world.ecs.freezing = 1;
    on.addJobs(5);
    await on.look(25);
    expect(launched(on)).toBeLessThanOrEqual(3 + 2 * 5 + 4);
  });
});

describe('a pool whose key was deleted', () => {
  it('gets one task at a time, and its failed tasks are given up before ECS replaces them', async () => {
    const on = await start();
    on.world.deleteKey('cpu');
    on.addJobs(20);
    const looks = await on.look(20);
    expect(launched(on)).toBeLessThanOrEqual(45);
    const [plan] = looks.at(-1)?.plan.pools ?? [];
    expect(plan?.why).toContainEqual(expect.objectContaining({ code: 'starts-failing', wanted: 20 }));
    on.world.renewKey('cpu');
    await on.look(15);
    expect(on.world.coderd.jobs().map(({ status }) => status)).not.toContain('pending');
  });

  it('tries again less often while three jobs an hour come', async () => {
    const on = await start();
    on.world.deleteKey('cpu');
    for (let jobs = 0; jobs < 9; jobs++) {
      on.addJobs(1);
      await on.look(20);
    }
    expect(launched(on)).toBeLessThanOrEqual(30);
  });
});

describe('an outage of the registry for two minutes', () => {
  it('costs ten jobs five minutes, because few tasks fail before ECS waits', async () => {
    const on = await start();
    on.failStarts('CannotPullContainerError: pull image manifest has been retried 7 time(s)');
    on.addJobs(10);
    await on.look(2);
    on.failStarts();
    await on.look(10);
    expect(longestWait(on)).toBeLessThan(6);
  });
});

describe('a licence that is lost while daemons start', () => {
  /** A pool that has read the licence, and jobs that come half a minute before it is lost for `lostS`. */
  async function lose(lostS: number, jobs: number) {
    const on = await start({ max: 10 });
    const { coderd } = on.world;
    const ports = on.ports();
    const plans = async (seconds: number) => (await on.run(seconds, ports, 5)).map(({ plan }) => plan);
    await plans(30);
    on.addJobs(jobs);
    await plans(30);
    coderd.licence = 'not_entitled';
    const lost = await plans(lostS);
    coderd.licence = 'entitled';
    return { ...on, plans, lost };
  }

  it('makes two jobs wait for the outage of 84 s and one start', async () => {
    const on = await lose(84, 2);
    const after = await on.plans(1200);
    // half a minute, the outage, a look and a start
    expect(longestWait(on)).toBeLessThan((30 + 84 + 80) / 60);
    expect(launched(on)).toBe(4);
    expect(on.world.ecs.counts().running).toBe(0);
    expect(after.at(-1)?.findings).toEqual([]);
  });

  it('keeps the daemons that are connected, and says why it launches and promises nothing', async () => {
    const on = await start({ max: 10, desiredCount: 2, min: 2 });
    const { coderd } = on.world;
    const ports = on.ports();
    on.pass(120);
    await on.run(10, ports);
    coderd.licence = 'not_entitled';
    // it is read once an hour while all daemons are connected
    on.pass(3600);
    on.addJobs(8);
    on.pass(5);
    const plan = await promisedLook(ports, on.config);
    expect(plan.pendingJobs.map(({ why }) => why)).toEqual(Array(6).fill('license-missing'));
    await on.run(900, ports);
    expect(coderd.jobs().map(({ status }) => status)).toEqual(Array(8).fill('succeeded'));
    expect(launched(on)).toBe(2);
  });
});

describe('daemons that coderd refuses for a cause that no look can read', () => {
  it('leave their job to another start after two minutes', async () => {
    const on = await start({ max: 10 });
    const { coderd } = on.world;
    coderd.licence = 'open-source';
    on.addJobs(2);
    await on.look(2);
    coderd.licence = 'entitled';
    await on.look(8);
    expect(longestWait(on)).toBeLessThan(5);
    expect(launched(on)).toBe(4);
  });

  it('leave tasks with leases, beside no daemon at all, until one more job brings a daemon', async () => {
    const on = await start({ max: 10 });
    const { coderd, ecs } = on.world;
    coderd.licence = 'open-source';
    on.addJobs(8);
    await on.look(40);
    coderd.licence = 'entitled';
    const looks = await on.look(20);
    expect(coderd.jobs().map(({ status }) => status)).not.toContain('pending');
    expect(ecs.counts().running).toBe(11);
    expect(looks.at(-1)?.plan.findings).toContainEqual(
      expect.objectContaining({ code: 'daemons-empty-while-leased', tasks: 11 }),
    );
    on.addJobs(1);
    await on.look(10);
    expect(coderd.jobs().at(-1)).toMatchObject({ status: 'succeeded' });
    expect(ecs.counts().running).toBe(0);
  });
});
