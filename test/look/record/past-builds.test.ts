/** Which workspaces a process without a record asks coderd for, when, and what it learns from their builds. */
import { describe, expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { OrganizationReadings, Snapshot, Workspace } from '../../../lambda/decision/model/snapshot.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { DAY_MS as DAY } from '../../../lambda/decision/model/units.ts';
import { PastBuilds } from '../../../lambda/look/stock/past-builds.ts';
import { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import {
  ago,
  anOrganization,
  aPool,
  aSnapshot,
  aWorkspace,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  reading,
} from '../../support/parts.ts';
import { buildAt, PREBUILDS_USER } from '../../support/stocked.ts';

type Built = {
  readonly tags?: Tags;
  readonly initiator?: string;
  readonly organization?: string;
};

/** A workspace whose latest build came so long ago. */
function built(id: string, ageMs: number, { tags = {}, initiator, organization }: Built = {}) {
  return aWorkspace({
    id,
    organization_id: (organization ?? 'org-default') as OrganizationId,
    latest_build: {
      initiator_id: initiator ?? 'somebody',
      job: { id: jobId(`latest-${id}`), status: 'succeeded', created_at: ago(ageMs), tags },
    },
  });
}

const listing = (workspaces: readonly Workspace[], given: Partial<OrganizationReadings> = {}) =>
  anOrganization({ workspaces: reading(workspaces), ...given });

function start({
  restored = [],
  record,
  read = async () => {},
}: {
  readonly restored?: readonly string[];
  readonly record?: { isAwaited: boolean };
  readonly read?: () => Promise<void>;
} = {}) {
  const asked: string[][] = [];
  const again: string[] = [];
  const times: number[] = [];
  const past = new PastBuilds({
    source: {
      read: (workspaces, since) => {
        asked.push(workspaces.map(({ id }) => id));
        times.push(since);
        return read();
      },
    },
    learner: {
      isRestored: (id) => restored.includes(id),
      startAgain: (id) => again.push(id),
    },
    record,
  });
  const look = (
    organizations: readonly OrganizationReadings[],
    {
      pools = [aPool()],
      signal,
    }: { readonly pools?: readonly PoolConfig[]; readonly signal?: AbortSignal } = {},
  ) =>
    past.read({
      snapshot: aSnapshot({ organizations }),
      pools,
      signal: signal ?? new AbortController().signal,
    });
  return { asked, again, times, look };
}

const DEFAULT = listing([built('a', HOUR), built('b', 2 * HOUR)]);

describe('a process without a record', () => {
  it('asks once for the builds of seven days', async () => {
    const { asked, again, times, look } = start();
    for (let count = 0; count < 3; count++) await look([DEFAULT]);
    expect(asked).toEqual([['a', 'b']]);
    expect(again).toEqual(['org-default']);
    expect(times).toEqual([NOW - 7 * DAY]);
  });

  it('asks for 20 workspaces at most, those with the newest builds', async () => {
    const many = Array.from({ length: 40 }, (_, index) => built(`w${index}`, (40 - index) * MINUTE));
    const { asked, look } = start();
    await look([listing(many)]);
    expect(asked[0]).toHaveLength(20);
    expect(asked[0]?.slice(0, 2)).toEqual(['w39', 'w38']);
  });

  it('knows a pool with few workspaces wholly, though others have newer builds', async () => {
    const many = Array.from({ length: 40 }, (_, index) => built(`w${index}`, (index + 1) * MINUTE));
    const few = [1, 2, 3].map((index) => built(`gpu${index}`, DAY + index * HOUR, { tags: { gpu: 'a10' } }));
    const { asked, look } = start();
    await look([listing([...many, ...few])], { pools: [aPool(), aPool({ tags: { gpu: 'a10' } })] });
    expect(asked[0]?.filter((id) => id.startsWith('gpu'))).toEqual(['gpu1', 'gpu2', 'gpu3']);
    expect(asked[0]).toHaveLength(20);
  });

  it.each([
    ['that waits to be claimed', built('x', HOUR, { initiator: PREBUILDS_USER })],
    ['without a build in seven days', built('x', 8 * DAY)],
    ['that no pool serves', built('x', HOUR, { tags: { gpu: 'a10' } })],
  ])('does not ask for a workspace %s', async (_, workspace) => {
    const { asked, again, look } = start();
    await look([listing([workspace])]);
    expect({ asked, again }).toEqual({ asked: [], again: [] });
  });

  it('asks for an organization later if its workspaces could not be listed', async () => {
    const { asked, look } = start();
    await look([anOrganization()]);
    await look([anOrganization({ workspaces: reading(DEFAULT.workspaces?.items ?? [], 'stale') })]);
    expect(asked).toEqual([]);
    await look([DEFAULT]);
    expect(asked).toEqual([['a', 'b']]);
  });

  it('asks for each organization that the record lacks', async () => {
    const id = 'org-data' as OrganizationId;
    const other = listing([built('c', HOUR, { organization: 'org-data' })], { id, name: 'data' });
    const pools = [aPool(), aPool({ organization: 'data' })];
    const { asked, again, look } = start({ restored: ['org-default'] });
    await look([DEFAULT, other], { pools });
    expect(asked).toEqual([['c']]);
    expect(again).toEqual(['org-data']);
  });

  it('waits until it is clear that there is no record', async () => {
    const record = { isAwaited: true };
    const { asked, look } = start({ record });
    await look([DEFAULT]);
    expect(asked).toEqual([]);
    record.isAwaited = false;
    await look([DEFAULT]);
    expect(asked).toHaveLength(1);
  });

  it('goes on when its time is up, though coderd does not answer', async () => {
    const { asked, look } = start({ read: () => new Promise(() => {}) });
    const over = new AbortController();
    const reads = look([DEFAULT], { signal: over.signal });
    over.abort();
    await reads;
    await look([DEFAULT], { signal: AbortSignal.abort() });
    expect(asked).toHaveLength(1);
  });
});

const ORGANIZATION = anOrganization().id;

/** A look at builds of these ages, in minutes. */
function lookAt(ages: readonly number[], laterMs = 0): Snapshot {
  const recentJobs = reading(ages.map((age) => buildAt(ago(age * MINUTE), 60, { id: jobId(`b${age}`) })));
  const organization = anOrganization({ recentJobs });
  return { ...aSnapshot({ organizations: [organization] }), takenAt: (NOW + laterMs) as EpochMs };
}

const timesIn = (learner: StockLearner): readonly number[] =>
  learner
    .save()
    ?.organizations.flatMap(({ logs }) => logs.flatMap(({ builds }) => builds.map(({ at }) => at))) ?? [];

describe('a learner that starts again', () => {
  it('learns earlier builds that it did not see before, each once', () => {
    const learner = new StockLearner();
    learner.learn([], lookAt([20]));
    learner.learn([], lookAt([300, 200, 20], MINUTE));
    expect(timesIn(learner)).toEqual([ago(20 * MINUTE)]);
    learner.startAgain(ORGANIZATION);
    learner.learn([], lookAt([300, 200, 20], 2 * MINUTE));
    expect(timesIn(learner)).toEqual([300, 200, 20].map((age) => ago(age * MINUTE)));
  });

  it('saves nothing until it has learned them', () => {
    const learner = new StockLearner();
    learner.learn([], lookAt([20]));
    learner.startAgain(ORGANIZATION);
    expect(learner.save()).toBeUndefined();
    learner.learn([], lookAt([20], MINUTE));
    expect(timesIn(learner)).toEqual([ago(20 * MINUTE)]);
  });

  it('keeps what a record had, which knows more', () => {
    const build = { at: ago(3 * DAY), tookMs: MINUTE };
    const logs = [{ tags: { scope: 'organization', owner: '' }, builds: [build] }];
    const record = { organizations: [{ id: ORGANIZATION, upTo: NOW, logs }], choices: [] };
    for (const isLate of [false, true]) {
      const learner = new StockLearner();
      learner.learn([], lookAt([20]));
      if (isLate) learner.startAgain(ORGANIZATION);
      learner.load(record, NOW);
      if (!isLate) learner.startAgain(ORGANIZATION);
      expect(learner.isRestored(ORGANIZATION)).toBe(true);
      learner.learn([], lookAt([20], MINUTE));
      expect(timesIn(learner)).toContain(build.at);
    }
  });
});
