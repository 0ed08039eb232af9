/** Running jobs whose daemon coderd no longer lists, with real looks and clients. */
import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { workerOf } from '../../../lambda/decision/supply/rows/daemons.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { Coderd, Ports } from '../../../lambda/look/ports.ts';
import { cleanLook, type Lab, type LabPool, startLab, startLongLab } from '../../support/lab.ts';

const pool = (name: string): LabPool => ({ name, organization: 'default', tags: { pool: name } });

/** One build in `cpu`, whose key is then deleted, and one idle daemon in `gpu`. */
async function deletedKey(buildMinutes: number) {
  const own = await startLongLab({ pools: [{ ...pool('cpu'), desiredCount: 1 }, pool('gpu')] });
  own.pass(120);
  const id = own.world.coderd.submitJob({
    organization: 'default',
    tags: { pool: 'cpu' },
    durationMs: buildMinutes * MINUTE_MS,
  });
  await own.run(30);
  own.world.deleteKey('cpu');
  return { own, id };
}

/** Looks once a minute. Returns the last look. */
async function runMinutes({ pass, ports, config }: Lab, minutes: number): Promise<LookResult | undefined> {
  const own = ports();
  let last: LookResult | undefined;
  for (let minute = 0; minute < minutes; minute++) {
    pass(60);
    last = await cleanLook(own, config);
  }
  return last;
}

const findingsOf = (done: LookResult | undefined) => done?.plan.findings.map(({ code }) => code);
const statuses = ({ world }: Lab) => world.coderd.jobs().map(({ status }) => status);

it('holds scale-in and names the build while a build of a deleted key runs', async () => {
  const { own, id } = await deletedKey(10);
  // longer than the reaper waits. The job has updates, so a daemon still runs it
  const held = await runMinutes(own, 8);
  const finding = held?.plan.findings.find(({ code }) => code === 'worker-unknown');
  expect(finding).toEqual({
    code: 'worker-unknown',
    organization: 'default',
    jobs: 1,
    jobIds: [id],
    pools: ['cpu', 'gpu'],
  });
  expect(finding && sentenceOf(finding)).toContain(id);
  expect(statuses(own)).toEqual(['running']);
  expect(own.world.service('gpu').state.desiredCount).toBe(1);
  const last = await runMinutes(own, 10);
  expect(findingsOf(last)).not.toContain('worker-unknown');
  expect(statuses(own)).toEqual(['succeeded']);
  expect(own.world.service('gpu').state.desiredCount).toBe(0);
  expect(own.world.figures().killed).toBe(0);
});

it('resumes scale-in once coderd fails a job that no daemon updates', async () => {
  const { own } = await deletedKey(60);
  for (const { identity } of own.world.service('cpu').tasks) own.world.ecs.hostFailure(identity.id);
  const last = await runMinutes(own, 10);
  expect(statuses(own)).toEqual(['failed']);
  expect(findingsOf(last)).not.toContain('worker-unknown');
  expect(own.world.service('gpu').state.desiredCount).toBe(0);
});

/** Ports whose coderd answers about jobs some seconds later than about daemons. */
function withLateJobs({ ports, pass }: Lab, seconds: number): Ports {
  const own = ports();
  const [daemons, jobs] = [own.coderd.daemons.bind(own.coderd), own.coderd.jobs.bind(own.coderd)];
  let read = Promise.withResolvers<void>();
  const later: Pick<Coderd, 'daemons' | 'jobs'> = {
    daemons: async (...asked) => {
      const reading = await daemons(...asked);
      read.resolve();
      return reading;
    },
    jobs: async (...asked) => {
      await read.promise;
      read = Promise.withResolvers();
      pass(seconds);
      return jobs(...asked);
    },
  };
  return { ...own, coderd: Object.assign(own.coderd, later) };
}

it("is no doubt that coderd lists a job of a daemon that has just registered, although ECS's lists lag", async () => {
  let unlisted = 0;
  for (let seed = 1; seed <= 10; seed++) {
    const own = await startLab({
      ...{ pools: [{ ...pool('cpu'), desiredCount: 0 }], overHttp: false },
      ...{ seed, readLagMs: 30_000 },
    });
    own.pass(60);
    own.world.coderd.submitJob({ organization: 'default', tags: { pool: 'cpu' }, durationMs: 5 * MINUTE_MS });
    const ports = withLateJobs(own, 5);
    for (let look = 0; look < 20; look++) {
      own.pass(1);
      const { snapshot, plan } = await cleanLook(ports, own.config);
      const [organization] = snapshot.coder.organizations;
      const listed = new Set(organization?.daemons.items.map(({ id }) => id));
      const workers = organization?.jobs.items.flatMap((job) => workerOf(job) ?? []) ?? [];
      unlisted += workers.filter((worker) => !listed.has(worker)).length;
      expect(plan.findings.map(({ code }) => code)).not.toContain('worker-unknown');
    }
  }
  expect(unlisted).toBeGreaterThan(0);
});
