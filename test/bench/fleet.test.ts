/** Checks the deployments that the bench generates. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf } from '../../bench/fleet/document.ts';
import { makeFleet } from '../../bench/fleet/fleet.ts';
import { type ServedFleet, serveFleet } from '../../bench/fleet/serve.ts';
import { CLUSTER } from '../../bench/fleet/tasks.ts';
import { parseSnapshot } from '../../lambda/adapters/snapshot/schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { connect } from '../../lambda/connect.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import type { Reading, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { canRun } from '../../lambda/decision/model/tags.ts';
import { observe } from '../../lambda/look/observe.ts';
import { planSnapshot } from '../../lambda/plan-snapshot.ts';

const SIZE = { jobs: 500, pools: 50, daemons: 240, workspaces: 600, seed: 1 };
const fleet = makeFleet(SIZE);
const snapshot = parseSnapshot(documentOf(fleet));

describe('a generated deployment', () => {
  it('has as many pending jobs, pools, daemons and workspaces as asked for', () => {
    const { organizations } = snapshot.coder;
    const pending = organizations.flatMap(({ jobs }) =>
      jobs.items.filter(({ status }) => status === 'pending'),
    );
    expect(pending).toHaveLength(SIZE.jobs);
    expect(organizations.flatMap(({ daemons }) => daemons.items)).toHaveLength(SIZE.daemons);
    expect(organizations.flatMap(({ workspaces }) => workspaces?.items ?? [])).toHaveLength(SIZE.workspaces);
    expect(snapshot.ecs.services.items).toHaveLength(SIZE.pools);
    expect(checkConfig(fleet.config('http://127.0.0.1')).config.pools).toHaveLength(SIZE.pools);
  });

  it('is the same for the same seed, and different for another seed', () => {
    expect(documentOf(makeFleet(SIZE))).toEqual(documentOf(fleet));
    expect(documentOf(makeFleet({ ...SIZE, seed: 2 }))).not.toEqual(documentOf(fleet));
  });

  it('has tasks in every state, and no doubt that holds scale-in', () => {
    const plan = planSnapshot(documentOf(fleet), fleet.config('http://127.0.0.1'));
    for (const state of ['busy', 'idle', 'starting', 'leaving', 'left'] as const)
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

  it('starts about a fifth of its workspaces by schedule, and wakes pools at zero for them', () => {
    const asleep = makeFleet({ ...SIZE, jobs: 0, daemons: 0 });
    const plan = planSnapshot(documentOf(asleep), asleep.config('http://127.0.0.1'));
    const starts = plan.forecast.filter(({ kind }) => kind === 'autostart');
    const count = sum(starts, ({ transitions }) => transitions);
    expect(count).toBeGreaterThan(SIZE.workspaces * 0.14);
    expect(count).toBeLessThan(SIZE.workspaces * 0.25);
    expect(starts.some(({ pool }) => pool !== null)).toBe(true);
    expect(plan.forecast.map(({ kind }) => kind)).toContain('autostop');
    expect(plan.pools.flatMap(({ why }) => why.map(({ code }) => code))).toContain('prewarm');
  });

  it('has workspace rows as large as those of coderd', () => {
    for (const workspace of fleet.organizations.flatMap(({ workspaces }) => workspaces)) {
      expect(JSON.stringify(workspace).length).toBeGreaterThan(5_000);
      expect(JSON.stringify(workspace).length).toBeLessThan(10_000);
    }
  });

  it('has no forecast, and no pool that wakes, when it has no workspaces', () => {
    const awake = makeFleet({ ...SIZE, workspaces: 0 });
    const { pools } = checkConfig(awake.config('http://127.0.0.1')).config;
    expect(pools.filter(({ wake }) => wake.autostart || wake.autostop)).toEqual([]);
    const { organizations } = parseSnapshot(documentOf(awake)).coder;
    expect(organizations.filter(({ workspaces }) => workspaces !== undefined)).toEqual([]);
  });

  it('has jobs that several pools can run', () => {
    const { pools } = checkConfig(fleet.config('http://127.0.0.1')).config;
    const choices = fleet.organizations.flatMap(({ name, jobs }) =>
      jobs.map(
        ({ tags }) => pools.filter((pool) => pool.organization === name && canRun(pool.tags, tags)).length,
      ),
    );
    expect(choices.filter((count) => count > 1).length).toBeGreaterThan(SIZE.jobs / 5);
  });
});

describe('serveFleet', () => {
  let served: ServedFleet;
  beforeAll(async () => {
    served = await serveFleet(fleet);
    process.env.AWS_ENDPOINT_URL_ECS = served.awsUrl;
    process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = served.awsUrl;
  });
  afterAll(() => served.close());

  it('gives the real clients the same snapshot as the document', async () => {
    const { config } = checkConfig(fleet.config(served.coderdUrl));
    const connection = connect(config, CLUSTER, undefined);
    const { clock: _, secrets, ecs, ...seen } = await observe(connection.ports(), config);
    await connection.close();
    const { takenAt: __, ...services } = ecs.services;
    expect(inOrder({ ...seen, ecs: { ...ecs, services } })).toEqual(inOrder(snapshot));
    expect(secrets).toMatchObject({ status: 'ok' });
    expect(secrets?.items).toHaveLength(config.pools.length);
  });

  it('serves the workspaces again only after ageForecast', async () => {
    const { config } = checkConfig(fleet.config(served.coderdUrl));
    const connection = connect(config, CLUSTER, undefined);
    const pagesOfLook = async () => {
      const before = served.calls().get('coderd workspaces') ?? 0;
      await observe(connection.ports(), config);
      return (served.calls().get('coderd workspaces') ?? 0) - before;
    };
    const pages = Math.ceil(SIZE.workspaces / 250);
    expect(await pagesOfLook()).toBe(pages);
    expect(await pagesOfLook()).toBe(0);
    served.ageForecast();
    expect(await pagesOfLook()).toBe(pages);
    await connection.close();
  });
});

/** Sorts all lists, as their order has no meaning. */
function inOrder({ coder, ecs, ...rest }: Snapshot): unknown {
  return {
    ...rest,
    buildInfo: coder.buildInfo,
    organizations: coder.organizations
      .map(({ jobs, daemons, previousJobs, ...organization }) => ({
        ...organization,
        jobs: sorted(jobs, ({ id }) => id),
        daemons: sorted(daemons, ({ id }) => id),
        previousJobs: sorted(previousJobs, ({ id }) => id),
      }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    services: sorted(ecs.services, ({ serviceArn }) => serviceArn),
    tasks: sorted(ecs.tasks, ({ taskArn }) => taskArn),
    protections: sorted(ecs.protections, ({ taskArn }) => taskArn),
  };
}

function sorted<T>({ status, items }: Reading<T>, key: (item: T) => string) {
  return { status, items: items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)) };
}
