/** Checks the deployments that the bench generates. */
import { expect, it, onTestFinished } from 'vitest';
import { checkConfig } from '../../../lambda/config/check.ts';
import { decide } from '../../../lambda/decision/decide.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { canRun, tagKey } from '../../../lambda/decision/model/tags.ts';
import { makeFleet } from '../../bench/fleet.ts';
import { observeFleet, serveFleet } from '../../bench/serve.ts';

const SIZE = { jobs: 200, pools: 50, daemons: 120, workspaces: 300 };
const { snapshot, config } = await observeFleet(makeFleet(SIZE, 1));
const { organizations } = snapshot.coder;
const pending = organizations.flatMap(({ name, jobs }) =>
  jobs.items.filter(({ status }) => status === 'pending').map(({ tags }) => ({ name, tags })),
);

it('has as many jobs, pools, daemons and workspaces as asked for', () => {
  // idle daemons have taken some of the jobs
  expect(pending.length).toBeGreaterThan(SIZE.jobs * 0.7);
  const running = sum(snapshot.ecs.services.items, ({ runningCount }) => runningCount);
  expect(running).toBeGreaterThan(SIZE.daemons * 0.8);
  expect(organizations.flatMap(({ daemons }) => daemons.items).length).toBeGreaterThanOrEqual(running);
  expect(organizations.flatMap(({ workspaces }) => workspaces?.items ?? [])).toHaveLength(SIZE.workspaces);
  expect(config.pools).toHaveLength(SIZE.pools);
});

it('has as many pools as asked for, all with other tags', () => {
  const given = makeFleet({ jobs: 0, pools: 200, daemons: 0, workspaces: 0 }, 1);
  const { config: many } = checkConfig(given.config('https://coder.example.com'));
  expect(many.pools).toHaveLength(200);
  expect(new Set(many.pools.map(({ organization, tags }) => `${organization} ${tagKey(tags)}`)).size).toBe(
    200,
  );
});

it('is the same for the same seed, and different for another seed', async () => {
  const again = await observeFleet(makeFleet(SIZE, 1));
  const other = await observeFleet(makeFleet(SIZE, 2));
  expect(again.snapshot.coder).toEqual(snapshot.coder);
  expect(other.snapshot.coder).not.toEqual(snapshot.coder);
});

it('has busy, starting and leaving tasks, transitions that are due, and no doubt that holds scale-in', () => {
  const plan = decide(snapshot, config);
  for (const state of ['busy', 'starting', 'leaving'] as const)
    expect(
      sum(plan.pools, ({ daemons }) => daemons[state]),
      state,
    ).toBeGreaterThan(0);
  const codes = plan.pools.flatMap(({ why }) => why.map(({ code }) => code));
  expect(codes).toContain('pending-jobs');
  expect(codes).toContain('capped-at-max');
  expect(codes).not.toContain('holding-for-doubt');
  expect(plan.unserved).not.toEqual([]);
  expect(new Set(plan.forecast.map(({ kind }) => kind))).toEqual(new Set(['autostart', 'autostop']));
});

it('has jobs that several pools can run', () => {
  const choices = pending.map(
    ({ name, tags }) =>
      config.pools.filter((pool) => pool.organization === name && canRun(pool.tags, tags)).length,
  );
  expect(choices.filter((count) => count > 1).length).toBeGreaterThan(pending.length / 6);
});

it('serves workspaces that are as large as those of coderd', async () => {
  const fleet = makeFleet(SIZE, 1);
  const { coderdUrl, close } = await serveFleet(fleet);
  onTestFinished(close);
  const token = fleet.world.secrets.find(fleet.world.tokenSecretName)?.value ?? '';
  const answer = await fetch(`${coderdUrl}/api/v2/workspaces?limit=250&offset=0`, {
    headers: { 'coder-session-token': token },
  });
  const { workspaces } = (await answer.json()) as { readonly workspaces: readonly object[] };
  const bytes = sum(workspaces, (workspace) => JSON.stringify(workspace).length) / workspaces.length;
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThan(10_000);
});
