/** The time that coderd's database takes for its answers, against what was measured (docs/internals/coder.md §11). */
import { describe, expect, it } from 'vitest';
import { CoderdAdapter } from '../../../../lambda/adapters/coderd/coderd.ts';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import type { Organization } from '../../../../lambda/look/ports.ts';
import { table } from '../../../../test/support/table.ts';
import { VirtualScheduler } from '../../../world/base/virtual-scheduler.ts';
import { InProcessCoderd } from '../../../world/coderd/routes/in-process.ts';
import { costOfJobs, costOfWorkspaces } from '../../../world/coderd/rules/database.ts';
import { coderdWorld, DAY, MINUTE } from './coderd-fixture.ts';

const jobs = (pending: number, running: number) => [
  ...Array.from({ length: pending }, () => ({ status: 'pending' })),
  ...Array.from({ length: running }, () => ({ status: 'running' })),
];

describe('the time that the database takes', () => {
  it.each(table<{ pending: number; running: number; daemons: number; measured: number }>`
    pending   | running  | daemons  | measured
    ${300}    | ${200}   | ${200}   | ${106}
    ${3_000}  | ${1_000} | ${1_000} | ${3_770}
    ${10_000} | ${1_000} | ${1_000} | ${12_600}
    ${100}    | ${0}     | ${200}   | ${35}
    ${100}    | ${0}     | ${1_000} | ${108}
    ${0}      | ${200}   | ${200}   | ${10}
    ${0}      | ${1_000} | ${1_000} | ${60}
  `)(
    'is about $measured ms for $pending pending and $running running jobs with $daemons daemons',
    ({ pending, running, daemons, measured }) => {
      const { ms } = costOfJobs(jobs(pending, running), { daemons });
      expect(ms).toBeGreaterThan(measured * 0.85);
      expect(ms).toBeLessThan(measured * 1.2);
    },
  );

  it('is that of all workspaces for each page', () => {
    expect(costOfWorkspaces(10_000)).toEqual({ of: 'workspaces', ms: 1_190 });
  });
});

describe('an answer of coderd', () => {
  const organization = ({ id, name }: Organization): Organization => ({ id, name });

  /** 20 jobs wait, and 10 daemons have gone two days ago. One of coderd's milliseconds takes `factor`. */
  function loaded(factor: number) {
    const { model, submit, worker, workspace, at } = coderdWorld({ version: 'v2.36.0' });
    const scheduler = new VirtualScheduler(model.timeline);
    for (let n = 0; n < 10; n++) worker().kill();
    at(2 * DAY);
    for (let n = 0; n < 20; n++) submit();
    for (let n = 0; n < 3; n++) workspace();
    model.database.factor = factor;
    const http = new InProcessCoderd(
      model,
      async (answer) => answer(),
      (ms) => scheduler.wait(ms),
    );
    const adapter = new CoderdAdapter(http);
    const [ours, startedAt] = [organization(model.organizations.default), scheduler.now()];
    const pass = (): Promise<void> => {
      void scheduler.wait(0);
      return scheduler.advanceTo(plusMs(startedAt, MINUTE));
    };
    return { model, adapter, scheduler, ours, startedAt, pass };
  }

  it('comes at once unless the database takes time', async () => {
    const { model, adapter, ours } = loaded(0);
    expect((await adapter.jobs(ours, undefined)).status).toBe('ok');
    expect(model.database.busyMs.jobs).toBe(0);
  });

  it('comes late with the rows of its beginning and the date of its end', async () => {
    const { model, adapter, ours, scheduler, startedAt, pass } = loaded(1_000);
    const reading = adapter.jobs(ours, undefined);
    scheduler.wait(1_000).then(() => model.submitJob({ organization: 'default', tags: {}, durationMs: 1 }));
    await pass();
    // 20 x (0.09 ms + 10 x 0.00115 ms) x 1,000
    expect(await reading).toMatchObject({ status: 'ok', takenAt: startedAt + 2_000 });
    expect((await reading).items).toHaveLength(20);
    expect(model.database).toMatchObject({ busyMs: { jobs: 2_030, workspaces: 0 }, longestMs: 2_030 });
  });

  it('does not come if it takes longer than the client waits, and then the database stops', async () => {
    const { model, adapter, ours, pass } = loaded(10_000);
    const reading = adapter.jobs(ours, undefined);
    await pass();
    expect(await reading).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('time of the client is up'),
    });
    expect(model.database.longestMs).toBe(20_000);
  });

  it('costs as much for each page of workspaces', async () => {
    const { model, adapter, ours, startedAt, pass } = loaded(1_000);
    const when = { now: startedAt, refreshMs: 200_000, build: undefined };
    const reading = adapter.forecast([ours], when);
    await pass();
    await reading;
    expect(model.database.busyMs).toEqual({ jobs: 0, workspaces: 357 });
  });
});
