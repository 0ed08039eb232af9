/** The learner: which builds it records, what it gives to the next look, and how much it does at a time. */
import { describe, expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import type { Job, ReadingStatus, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { DAY_MS as DAY } from '../../lambda/decision/model/units.ts';
import { coarseRulesFor } from '../../lambda/decision/stock/replay.ts';
import type { StockSet } from '../../lambda/decision/stock/stock-groups.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import {
  aJob,
  anOrganization,
  aSnapshot,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  poolName,
  reading,
} from '../support/parts.ts';
import { PREBUILDS_USER } from '../support/stocked.ts';

const ORGANIZATION = anOrganization().id;
const SET: StockSet = {
  organizationId: ORGANIZATION,
  pools: [poolName('cpu')],
  tagSets: [normalizeTags({})],
  isStartSeen: true,
  replayed: {
    ...{ startMs: MINUTE, lookMs: 8_000, taskPrice: 0.0395 / HOUR, launchPrice: 0.002, startPrice: 0.003 },
    ...{ waitPrice: 0.1 / MINUTE, most: 3 },
  },
};
const plus = (ms: number): EpochMs => (NOW + ms) as EpochMs;

/** Builds of a minute, one every so many minutes, from the beginning on. */
const every = (minutes: number, forMs: number, fromMs = 0): readonly Job[] =>
  Array.from({ length: Math.floor(forMs / (minutes * MINUTE)) }, (_, index) =>
    build(plus(fromMs + index * minutes * MINUTE + ((index * 7919) % 50) * 1000), `${fromMs + index}`),
  );

function build(at: EpochMs, id: string, given: Partial<Job> = {}): Job {
  const times = { created_at: at, started_at: at, completed_at: (at + MINUTE) as EpochMs };
  return aJob({ id: jobId(id), status: 'succeeded', ...times, ...given });
}

/** What a look sees: the builds so far. */
function lookAt(now: EpochMs, jobs: readonly Job[], workspaces?: ReadingStatus): Snapshot {
  const recentJobs = reading(jobs.filter(({ created_at }) => created_at <= now));
  const organization = anOrganization({
    recentJobs,
    ...(workspaces === undefined ? {} : { workspaces: reading([], workspaces) }),
  });
  return { ...aSnapshot({ organizations: [organization] }), takenAt: now };
}

const ALL = Number.POSITIVE_INFINITY;

describe('a learner', () => {
  it('has learned nothing before the first look, and then at least that no build is known', () => {
    const learner = new StockLearner();
    expect(learner.learned()).toBeUndefined();
    learner.learn([SET], lookAt(NOW, []));
    expect(learner.learned()).toMatchObject({ tagSets: [], choices: [{ builds: 0, hours: 0 }] });
  });

  it('makes the same choice in every process that saw the same builds', () => {
    const jobs = every(9, DAY);
    const [often, once] = [new StockLearner(), new StockLearner()];
    for (let at = 0; at <= DAY; at += 7 * MINUTE) often.learn([SET], lookAt(plus(at), jobs), ALL);
    for (const learner of [often, once]) learner.learn([SET], lookAt(plus(DAY + HOUR), jobs), ALL);
    expect(often.learned()).toEqual(once.learned());
    expect(once.learned()?.choices[0]?.builds).toBeGreaterThan(100);
  });

  it('expects little waiting at a time of day at which no build comes', () => {
    const learner = new StockLearner();
    const days = [0, 1, 2].flatMap((day) => every(31, 8 * HOUR, day * DAY));
    learner.learn([SET], lookAt(plus(2 * DAY + 16 * HOUR), days), ALL);
    const { waiting = 0, waitingNow = waiting } = learner.learned()?.choices[0] ?? {};
    expect(waiting).toBeGreaterThan(0);
    expect(waitingNow).toBeLessThan(waiting / 2);
  });

  it('keeps to its steps, and gives no choice before all builds are replayed', () => {
    const jobs = every(9, DAY);
    const learner = new StockLearner();
    let looks = 0;
    while (learner.learned()?.choices.length !== 1 && looks < 1000) {
      learner.learn([SET], lookAt(plus(DAY), jobs), 50);
      looks++;
    }
    // few rules come first: 4; 160 builds and 47 half hours, at least 8 of both in a look
    expect(looks).toBeGreaterThan(10);
    expect(looks).toBeLessThan(40);
  });

  it('records builds that are five minutes old', () => {
    const aged = [4, 6].map((age) => build(plus((60 - age) * MINUTE), `${age}`, { tags: { age: `${age}` } }));
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(HOUR), aged), ALL);
    expect(learner.learned()?.tagSets.map(({ tags }) => tags.age)).toEqual(['6']);
  });

  it('does not take the age of a build that still runs for how long builds take', () => {
    const at = plus(50 * MINUTE);
    const running = aJob({ id: jobId('b'), status: 'running', created_at: at, started_at: at });
    const jobs = [build(NOW, 'a'), running];
    const snapshot = lookAt(plus(HOUR), jobs);
    const organizations = snapshot.coder.organizations.map((each) => ({ ...each, jobs: reading([running]) }));
    const learner = new StockLearner();
    learner.learn([SET], { ...snapshot, coder: { ...snapshot.coder, organizations } }, ALL);
    expect(learner.learned()?.tagSets).toMatchObject([{ lastBuildAt: at, durationsMs: [MINUTE] }]);
  });

  it('records unforeseen builds, of all tag sets', () => {
    const gpu = { cluster: 'gpu' };
    const jobs = [
      build(NOW, 'a'),
      build(NOW, 'b', { tags: gpu }),
      build(NOW, 'c', { initiator_id: PREBUILDS_USER }),
      build(NOW, 'd', { reason: 'autostart', metadata: { workspace_id: 'w' } }),
      build(plus(50 * MINUTE), 'e'),
    ];
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(59 * MINUTE), jobs), ALL);
    expect(learner.learned()?.tagSets.map(({ tags }) => tags)).toEqual([{}, gpu].map(normalizeTags));
    expect(learner.learned()?.choices[0]?.builds).toBe(1);
  });

  it('learns the earlier builds once the workspaces can be read', () => {
    const jobs = every(9, DAY);
    const learner = new StockLearner();
    for (const status of ['failed', 'stale', 'failed'] as const)
      learner.learn([SET], lookAt(plus(DAY), jobs, status), ALL);
    expect(learner.learned()).toEqual({ tagSets: [], choices: [] });
    learner.learn([SET], lookAt(plus(DAY), jobs, 'ok'), ALL);
    expect(learner.learned()?.choices[0]?.builds).toBeGreaterThan(100);
  });

  it('goes on when coderd does not answer for some time', () => {
    const jobs = every(9, DAY);
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(HOUR), jobs), ALL);
    const none = { ...aSnapshot({ organizations: [] }), takenAt: plus(2 * HOUR) };
    learner.learn([], none, ALL);
    expect(learner.learned()?.choices).toHaveLength(1);
  });

  it('forgets sets of pools that no look has seen for a day, and builds of a week ago', () => {
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(HOUR), [build(NOW, 'a')]), ALL);
    const other = { ...SET, pools: [poolName('new')] };
    learner.learn([other], lookAt(plus(26 * HOUR), []), ALL);
    expect(learner.learned()?.choices.map(({ pools }) => pools)).toEqual([['new']]);
    learner.learn([], lookAt(plus(8 * DAY), []), ALL);
    expect(learner.learned()).toEqual({ tagSets: [], choices: [] });
  });

  it('starts the replays again if a price changes, and keeps the choice until they are done', () => {
    const jobs = every(9, DAY);
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(DAY), jobs), ALL);
    const before = learner.learned();
    const dear = { ...SET, replayed: { ...SET.replayed, waitPrice: 10 / MINUTE } };
    learner.learn([dear], lookAt(plus(DAY), jobs), 1000);
    expect(learner.learned()).toEqual(before);
    learner.learn([dear], lookAt(plus(DAY), jobs), ALL);
    expect(learner.learned()).not.toEqual(before);
  });

  it('does not start again when the start time flips between the configured and the learned one', () => {
    const jobs = every(9, DAY);
    const flip = { ...SET, isStartSeen: false, replayed: { ...SET.replayed, startMs: 5 * MINUTE } };
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(DAY), jobs), ALL);
    const before = learner.learned();
    for (const set of [flip, SET, flip]) learner.learn([set], lookAt(plus(DAY), jobs), ALL);
    expect(learner.learned()).toEqual(before);
    const slower = { ...SET, replayed: { ...SET.replayed, startMs: 5 * MINUTE } };
    learner.learn([slower], lookAt(plus(DAY), jobs), ALL);
    expect(learner.learned()).not.toEqual(before);
  });

  it.each([
    { backMs: 20 * MINUTE, because: 'a step of minutes changes nothing' },
    { backMs: 9 * DAY, because: 'after a step of days it learns again' },
  ])('knows the builds after the clock was $backMs ms ahead: $because', ({ backMs }) => {
    const jobs = every(9, DAY);
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(DAY), jobs), ALL);
    const { builds = 0 } = learner.learned()?.choices[0] ?? {};
    learner.learn([SET], { ...lookAt(plus(DAY), jobs), takenAt: plus(DAY + backMs) }, ALL);
    learner.learn([SET], lookAt(plus(DAY), jobs), ALL);
    expect(learner.learned()?.choices[0]?.builds).toBeGreaterThanOrEqual(builds);
  });

  it.each([
    { open: true, expected: 2 * HOUR, because: 'it still runs: as long again' },
    { open: false, expected: 5 * MINUTE, because: 'no look saw when it ended: as long as the others' },
  ])('takes $expected ms for a build without an end, because $because', ({ open, expected }) => {
    const others = [1, 2, 3].map((minute) =>
      build(plus(-minute * MINUTE), `${minute}`, { completed_at: plus((5 - minute) * MINUTE) }),
    );
    const endless = build(NOW, 'a', { status: 'running', completed_at: null });
    const snapshot = lookAt(plus(HOUR), [...others, endless]);
    const organizations = snapshot.coder.organizations.map((organization) => ({
      ...organization,
      jobs: reading(open ? [endless] : []),
    }));
    const learner = new StockLearner();
    learner.learn([SET], { ...snapshot, coder: { ...snapshot.coder, organizations } }, ALL);
    expect(learner.save()?.organizations[0]?.logs[0]?.builds.at(-1)?.tookMs).toBe(expected);
  });

  it('takes a minute for a build that never ran', () => {
    const canceled = build(NOW, 'b', { status: 'canceled', started_at: null, completed_at: null });
    const learner = new StockLearner();
    learner.learn([SET], lookAt(plus(HOUR), [canceled]), ALL);
    expect(learner.save()?.organizations[0]?.logs[0]?.builds).toMatchObject([{ tookMs: MINUTE }]);
  });

  it('has a choice for each of fifty sets of pools with 2,000 builds within ten looks, and a finer one later', () => {
    const sets = Array.from({ length: 50 }, (_, index) => ({ ...SET, pools: [poolName(`p${index}`)] }));
    const learner = new StockLearner();
    const snapshot = lookAt(plus(7 * DAY), every(5, 7 * DAY));
    for (let look = 0; look < 10; look++) learner.learn(sets, snapshot);
    const coarse = learner.learned()?.choices ?? [];
    expect(coarse.map(({ builds }) => builds)).toEqual(Array(50).fill(2_010));
    learner.learn(sets, snapshot, ALL);
    const last = coarse.at(-1);
    const finer = learner.learned()?.choices.at(-1);
    const dollarsOf = (choice = last): number => (choice?.tasks ?? 0) + (choice?.waiting ?? 0);
    expect(coarseRulesFor(3)).toContainEqual(last?.rule);
    expect(dollarsOf(finer)).toBeLessThanOrEqual(dollarsOf());
  });
});

describe('a record that lies', () => {
  const choice = (free: number) => ({
    ...{ organizationId: ORGANIZATION, pools: SET.pools, builds: 1, hours: 1, tasks: 0, waiting: 0 },
    rule: { free, spareMs: 5 * MINUTE, afterBuildMs: null, countsBusy: false },
    others: [],
  });
  const loadedWith = (free: number, builds: number, atOnce: boolean): StockLearner => {
    const learner = new StockLearner();
    const log = Array.from({ length: builds }, (_, index) => ({
      at: NOW + (atOnce ? 0 : index),
      tookMs: MINUTE,
    }));
    const organization = {
      id: ORGANIZATION,
      upTo: plus(HOUR),
      logs: [{ tags: normalizeTags({}), builds: log }],
    };
    learner.load({ organizations: [organization], choices: [choice(free)] }, plus(HOUR));
    return learner;
  };

  it.each([
    { free: 80, kept: [80], because: 'it is one of the rules' },
    { free: 81, kept: [], because: 'no rule keeps so many free' },
    { free: 9e15, kept: [], because: 'it would fill the pool up to max' },
    { free: -1, kept: [], because: 'a rule keeps none or more' },
  ])('leaves $kept of a choice of $free free daemons, because $because', ({ free, kept }) => {
    const { choices = [] } = loadedWith(free, 1, false).learned() ?? {};
    expect(choices.map(({ rule }) => rule.free)).toEqual(kept);
  });

  it('of builds that this process has seen changes neither its choices nor its builds', () => {
    const learner = loadedWith(1, 3, false);
    const [organization] = learner.save()?.organizations ?? [];
    if (organization === undefined) throw new Error('nothing is saved');
    // the newest build came at the very time up to which the record has all
    const upTo = organization.logs.flatMap(({ builds }) => builds).at(-1)?.at ?? 0;
    learner.load({ organizations: [{ ...organization, upTo }], choices: [choice(8)] }, plus(HOUR));
    expect(learner.learned()?.choices).toMatchObject([{ rule: { free: 1 } }]);
    expect(learner.save()?.organizations).toEqual([organization]);
  });

  it('launches no daemons by what it says that a rule has', () => {
    const learner = new StockLearner();
    const stays = { daemons: 30, until: plus(DAY) };
    learner.load({ organizations: [], choices: [{ ...choice(0), stays }] }, plus(HOUR));
    const { choices = [] } = learner.learned() ?? {};
    expect(choices).toHaveLength(1);
    expect(choices[0]).not.toHaveProperty('stays');
  });

  it.each([
    { builds: 6_000, atOnce: false, kept: 5_000 },
    { builds: 120_000, atOnce: true, kept: 0 },
  ])('leaves $kept of $builds builds (all at once: $atOnce)', ({ builds, atOnce, kept }) => {
    const saved = loadedWith(1, builds, atOnce).save()?.organizations ?? [];
    expect(saved.flatMap(({ logs }) => logs.flatMap((log) => log.builds))).toHaveLength(kept);
  });
});

it('keeps the organizations apart', () => {
  const other = 'other' as OrganizationId;
  const learner = new StockLearner();
  const sets = [SET, { ...SET, organizationId: other }];
  learner.learn(sets, lookAt(plus(HOUR), [build(NOW, 'a')]), ALL);
  expect(learner.learned()?.choices.map(({ organizationId, builds }) => [organizationId, builds])).toEqual([
    [ORGANIZATION, 1],
  ]);
});
