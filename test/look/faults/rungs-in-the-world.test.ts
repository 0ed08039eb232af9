/** Pools whose image has no guard: the autoscaler protects tasks that may have a job. */
import { describe, expect, it } from 'vitest';
import type { ScaleIn } from '../../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { dryLook, lookAndAct } from '../../../lambda/look/look.ts';
import type { Coderd } from '../../../lambda/look/ports.ts';
import { cleanLook, type Lab, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

/** A pool without guards, with builds. ECS stops busy tasks first. */
async function withBuilds(scaleIn: ScaleIn, minutes: readonly number[], seed = 1): Promise<Lab> {
  const pool = {
    name: 'cpu',
    organization: 'default',
    tags: {},
    desiredCount: 0,
    image: 'bare',
    scaleIn,
  } as const;
  const lab = await startLongLab({ pools: [pool], victims: 'worst', readLagMs: 3_000, seed });
  for (const length of minutes)
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: length * MINUTE_MS });
  return lab;
}

const succeeded = ({ world }: Lab): number =>
  world.coderd.jobs().filter(({ status }) => status === 'succeeded').length;

/** Looks every 30 s. */
async function pass({ pass: wait, ports, config }: Lab, minutes: number): Promise<void> {
  const real = ports();
  for (let look = 0; look < 2 * minutes; look++) {
    wait(30);
    await cleanLook(real, config);
  }
}

describe('the rung confirm', () => {
  it.each(rows([1, 2], 1))(
    'lets builds end and stops spare daemons within the next hour, seed %i',
    async (seed) => {
      const own = await withBuilds('confirm', [2, 5, 20, 45, 90], seed);
      await pass(own, 60);
      expect(own.world.service('cpu').state.desiredCount).toBeGreaterThanOrEqual(1);
      await pass(own, 110);
      expect(succeeded(own)).toBe(5);
      expect(own.world.figures().killed).toBe(0);
      expect(own.world.service('cpu').state.desiredCount).toBe(0);
    },
  );

  it('stops nothing if a daemon takes a job between the two looks', async () => {
    const own = await withBuilds('confirm', [1]);
    const { world, config } = own;
    const real = own.ports();
    const wouldStop = async (): Promise<boolean> =>
      (await dryLook(real, config)).plan.actions.some(
        (action) => action.kind === 'set-desired' && action.stops,
      );
    await pass(own, 5);
    for (own.pass(30); !(await wouldStop()); own.pass(30)) await cleanLook(real, config);
    let lists = 0;
    const jobs: Coderd['jobs'] = (...args) => {
      if (++lists === 2) {
        world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 10 * MINUTE_MS });
        own.pass(5);
      }
      return real.coderd.jobs(...args);
    };
    const coderd = new Proxy(real.coderd, {
      get: (it, name) => {
        const member: unknown = name === 'jobs' ? jobs : Reflect.get(it, name);
        return typeof member === 'function' ? member.bind(it) : member;
      },
    });
    await cleanLook({ ...real, coderd }, config);
    expect(lists).toBe(2);
    expect(world.service('cpu').state.desiredCount).toBe(1);
    await pass(own, 15);
    expect(succeeded(own)).toBe(2);
    expect(world.figures().killed).toBe(0);
  });

  /** A pool with one idle task that a look would stop now, and one whose build runs on. */
  async function withStopPlanned(): Promise<Lab> {
    const own = await withBuilds('confirm', [1, 90]);
    const real = own.ports();
    for (own.pass(30); ; own.pass(30)) {
      const { plan } = await dryLook(real, own.config);
      if (plan.actions.some((action) => action.kind === 'set-desired' && action.stops)) return own;
      await cleanLook(real, own.config);
    }
  }

  it('lowers no count of a pool in which a task could not be protected', async () => {
    const own = await withStopPlanned();
    const { world, config } = own;
    const busy = world.ecs.tasks().find(({ isBusy }) => isBusy);
    // sure for five minutes, and due for another protection
    world.ecs.protect(busy?.identity.id ?? '', 10);
    own.pass(5);
    world.ecs.throttleNext('UpdateTaskProtection', 3);
    const { plan, failures } = await lookAndAct(own.ports(), config);
    expect(plan.actions.map(({ kind }) => kind).sort()).toEqual(['protect', 'set-desired']);
    const message = 'protecting 1 task(s) of pool "cpu": ThrottlingException: Rate exceeded';
    expect(failures).toMatchObject([{ pool: 'cpu', message }]);
    expect(world.service('cpu').state.desiredCount).toBe(2);
  });

  it('does not look a second time once the invocation is over', async () => {
    const own = await withStopPlanned();
    const over = new AbortController();
    const { coderd, ...ports } = own.ports();
    const jobs = coderd.jobs.bind(coderd);
    let looks = 0;
    coderd.jobs = (...args) => {
      looks += 1;
      over.abort();
      return jobs(...args);
    };
    await lookAndAct({ ...ports, coderd }, own.config, over.signal);
    expect(looks).toBe(1);
    expect(own.world.service('cpu').state.desiredCount).toBe(2);
  });

  it.each([
    { prefix: 'x', because: 'no pool gives its daemons such a name' },
    { prefix: 'cpu', because: 'either of the two may be the daemon of the task' },
  ])('stops no building task for an idle daemon named $prefix-<task id>: $because', async ({ prefix }) => {
    const own = await withBuilds('confirm', []);
    const { coderd, ecs, secrets } = own.world;
    const type = 'template_version_import';
    coderd.submitJob({ organization: 'default', tags: {}, durationMs: 90 * MINUTE_MS, type });
    await pass(own, 3);
    const name = `${prefix}-${ecs.tasks()[0]?.identity.id}`;
    coderd.connect({ key: secrets.find('coder/keys/cpu')?.value ?? '', name, version: coderd.version.text });
    await pass(own, 90);
    expect(own.world.figures().killed).toBe(0);
    expect(succeeded(own)).toBe(1);
  });
});

it('never lowers a count with the rung never', async () => {
  const own = await withBuilds('never', [2, 5]);
  await pass(own, 100);
  expect(succeeded(own)).toBe(2);
  expect(own.world.service('cpu').state.desiredCount).toBe(2);
  expect(own.world.figures().killed).toBe(0);
});
