/** Checks the deployments that the bench generates. */
import { expect, it } from 'vitest';
import { connect } from '../../../lambda/connect.ts';
import { decide } from '../../../lambda/decision/decide.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import { canRun } from '../../../lambda/decision/model/tags.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { makeFleet } from '../../bench/fleet/fleet.ts';
import { observeFleet, observeServed, serveFleet } from '../../bench/fleet/serve.ts';

const SIZE = { jobs: 200, pools: 50, daemons: 120, workspaces: 300, seed: 1 };
const { snapshot, config } = await observeFleet(makeFleet(SIZE));
const { organizations } = snapshot.coder;
const pending = organizations.flatMap(({ name, jobs }) =>
  jobs.items.filter(({ status }) => status === 'pending').map(({ tags }) => ({ name, tags })),
);

it('has as many jobs, pools, daemons and workspaces as asked for', () => {
  // idle daemons have taken some of the jobs
  expect(pending.length).toBeGreaterThan(SIZE.jobs * 0.8);
  const running = sum(snapshot.ecs.services.items, ({ runningCount }) => runningCount);
  expect(running).toBeGreaterThan(SIZE.daemons * 0.8);
  expect(organizations.flatMap(({ daemons }) => daemons.items).length).toBeGreaterThanOrEqual(running);
  expect(organizations.flatMap(({ workspaces }) => workspaces?.items ?? [])).toHaveLength(SIZE.workspaces);
  expect(snapshot.ecs.services.items).toHaveLength(SIZE.pools);
  expect(config.pools).toHaveLength(SIZE.pools);
});

it('is the same for the same seed, and different for another seed', async () => {
  const again = await observeFleet(makeFleet(SIZE));
  const other = await observeFleet(makeFleet({ ...SIZE, seed: 2 }));
  expect(again.snapshot.coder).toEqual(snapshot.coder);
  expect(other.snapshot.coder).not.toEqual(snapshot.coder);
});

it('has tasks in every state, and no doubt that holds scale-in', () => {
  const plan = decide(snapshot, config);
  for (const state of ['busy', 'idle', 'starting', 'leaving'] as const)
    expect(
      sum(plan.pools, ({ daemons }) => daemons[state]),
      state,
    ).toBeGreaterThan(0);
  const codes = plan.pools.flatMap(({ why }) => why.map(({ code }) => code));
  expect(codes).toContain('pending-jobs');
  expect(codes).toContain('capped-at-max');
  expect(codes).not.toContain('holding-for-doubt');
  expect(plan.unserved).not.toEqual([]);
});

it('starts about a fifth of its workspaces by schedule, and wakes pools at zero for them', async () => {
  const asleep = await observeFleet(makeFleet({ ...SIZE, jobs: 0, daemons: 0 }));
  const plan = decide(asleep.snapshot, asleep.config);
  const starts = plan.forecast.filter(({ kind }) => kind === 'autostart');
  const count = sum(starts, ({ transitions }) => transitions);
  expect(count).toBeGreaterThan(SIZE.workspaces * 0.14);
  expect(count).toBeLessThan(SIZE.workspaces * 0.25);
  expect(starts.some(({ pool }) => pool !== null)).toBe(true);
  expect(plan.forecast.map(({ kind }) => kind)).toContain('autostop');
  expect(plan.pools.flatMap(({ why }) => why.map(({ code }) => code))).toContain('prewarm');
});

it('has no forecast, and no pool that wakes, when it has no workspaces', async () => {
  const awake = await observeFleet(makeFleet({ ...SIZE, workspaces: 0 }));
  expect(awake.config.pools.filter(({ wake }) => wake.autostart || wake.autostop)).toEqual([]);
  const read = awake.snapshot.coder.organizations.filter(({ workspaces }) => workspaces !== undefined);
  expect(read).toEqual([]);
});

it('has jobs that several pools can run', () => {
  const choices = pending.map(
    ({ name, tags }) =>
      config.pools.filter((pool) => pool.organization === name && canRun(pool.tags, tags)).length,
  );
  expect(choices.filter((count) => count > 1).length).toBeGreaterThan(pending.length / 6);
});

it('is served with the same answers, and with the workspaces again only after ageForecast', async () => {
  const fleet = makeFleet(SIZE);
  const served = await serveFleet(fleet.world);
  const seen = await observeServed(fleet, served);
  expect(seen.snapshot.coder).toEqual(snapshot.coder);
  const token = fleet.world.secrets.find(fleet.world.tokenSecretName)?.value ?? '';
  const answer = await fetch(`${served.coderdUrl}/api/v2/workspaces?limit=250&offset=0`, {
    headers: { 'coder-session-token': token },
  });
  const { workspaces } = (await answer.json()) as { readonly workspaces: readonly object[] };
  const bytes = sum(workspaces, (workspace) => JSON.stringify(workspace).length) / workspaces.length;
  // as large as those of coderd
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThan(10_000);
  const connection = connect(seen.config, fleet.world.ecs.clusterName, undefined);
  const pagesOfLook = async () => {
    const before = served.calls().get('coderd workspaces') ?? 0;
    await observe(connection.ports(), seen.config);
    return (served.calls().get('coderd workspaces') ?? 0) - before;
  };
  const pages = Math.ceil(SIZE.workspaces / 250);
  expect(await pagesOfLook()).toBe(pages);
  expect(await pagesOfLook()).toBe(0);
  served.ageForecast();
  expect(await pagesOfLook()).toBe(pages);
  await connection.close();
  await served.close();
});
