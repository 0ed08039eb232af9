/** What a frame of `autoscaler watch` says: the words of ordinary days, and those of trouble. */
import { describe, expect, it } from 'vitest';
import { changesIn } from '../../../cli/logs/logged-changes.ts';
import type { LastLook } from '../../../cli/status/read-log.ts';
import { frameOf, type WatchFrame } from '../../../cli/watch/frame.ts';
import { History } from '../../../cli/watch/strip/history.ts';
import { parseSnapshot } from '../../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Remembered, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { draw, type Picture } from '../../support/picture.ts';
import { type Change, edit, organizationIn, serviceIs } from '../../support/planned.ts';

const UNREAD = { kind: 'unknown', why: 'no log' } as const;
const NOTE = { 'pin-until': '2026-11-20T10:00:00Z', 'pin-by': 'anna', 'pin-why': 'load test' };

type Rows = WatchFrame['waiting'][number]['rows'];

function frame(
  picture: Picture,
  change: Change = () => {},
  remembered?: Remembered,
  lastLook: LastLook = UNREAD,
): WatchFrame {
  const { snapshot: document, config: settings } = draw(picture);
  change(document, settings);
  const { config } = checkConfig(settings);
  const snapshot: Snapshot = { ...parseSnapshot(document), ...(remembered && { remembered }) };
  const deliberation = deliberate(snapshot, config);
  const log = { lastLook, waits: UNREAD };
  return frameOf({ snapshot, deliberation, config, changes: [], history: new History(), note: null, log });
}

const whysOf = ({ lanes }: WatchFrame): readonly string[] =>
  lanes.flatMap(({ why }) => why.map(({ whole }) => whole));

describe('a lane', () => {
  it('counts tasks that drain or have left beside those that max limits', () => {
    const [lane] = frame({ pools: { cpu: { tasks: 'B B I1m L X U1m', max: 3 } } }).lanes;
    expect(lane).toMatchObject({ staying: 3, leaving: 3, max: 3 });
    expect(lane?.tasks.map(({ state }) => state).sort()).toEqual([
      ...['building', 'building', 'draining', 'free', 'gone', 'gone'],
    ]);
  });

  it('says that tasks have just left, and not that scale-in is on hold', () => {
    expect(whysOf(frame({ pools: { cpu: { tasks: 'I20m U1m' } } }))).toContain(
      '1 task has left; the desired count follows within about 90 s',
    );
  });

  it('says who set a pin, until when and why, once, whether the pin limits the pool or not', () => {
    const pinned = 'pinned at 2 tasks until 20 November 2026 10:00:00 UTC by anna (load test)';
    const overrides = { pin: '2', ...NOTE };
    expect(whysOf(frame({ pools: { cpu: { tasks: 'B B', overrides } } }))).toEqual([pinned]);
    expect(whysOf(frame({ pools: { cpu: { tasks: 'B B', overrides } }, pending: [{ jobs: 3 }] }))).toEqual([
      'needs 5 tasks, pinned at 2 until 20 November 2026 10:00:00 UTC by anna (load test)',
      '3 pending jobs need a new task',
    ]);
  });
});

describe('the state of a pool', () => {
  const withoutTasks: Change = (snapshot, config) => {
    Object.assign(snapshot.ecs.tasks, { items: [] });
    serviceIs({ runningCount: 0, pendingCount: 0 })(snapshot, config);
  };
  const overrides = { pin: '2', ...NOTE };
  it.each([
    { pool: { tasks: 'I1m', min: 1 }, state: 'quiet', because: 'a free daemon waits for builds' },
    { pool: { tasks: 'B' }, state: 'active', because: 'a task builds' },
    { pool: { tasks: 'I20m U1m' }, state: 'active', because: 'a task has just left' },
    { pool: { tasks: 'B', max: 1 }, pending: [{ jobs: 1 }], state: 'held', because: 'max is reached' },
    { pool: { tasks: 'I1m I1m', overrides }, state: 'held', because: 'a person has pinned it' },
    { pool: { tasks: 'Z' }, state: 'wrong', because: 'a task has no daemon' },
    {
      ...{ pool: { tasks: 'I1m', desired: 0 }, change: withoutTasks, state: 'wrong' },
      because: 'a finding names it',
    },
    {
      pool: { tasks: 'I1m' },
      change: serviceIs({ runningCount: 2 }),
      state: 'wrong',
      because: 'lists differ',
    },
  ])('is $state: $because', ({ pool, pending = [], change, state }) => {
    const [lane] = frame({ pools: { cpu: pool }, pending }, change).lanes;
    expect(lane?.state).toBe(state);
  });

  it('is that of what is wrong where a limit holds the pool too, and says first what is wrong', () => {
    const change = serviceIs({ runningCount: 3 });
    const [lane] = frame(
      { pools: { cpu: { tasks: 'B', max: 1, overrides } }, pending: [{ jobs: 2 }] },
      change,
    ).lanes;
    expect(lane?.state).toBe('wrong');
    expect(lane?.why[0]?.whole).toContain('ECS lists fewer tasks than it counts');
  });
});

describe('a mismatch of two lists', () => {
  const picture = { pools: { cpu: { tasks: 'I1m' } } };
  const counted = serviceIs({ runningCount: 2 });
  const remembered = (ageMs: number): Remembered => {
    const { takenAt } = parseSnapshot(draw(picture).snapshot);
    const mismatches = { 'tasks-fewer-than-counted cpu': plusMs(takenAt, -ageMs) };
    return { mismatches, refused: [] };
  };

  it('is told neither as a finding nor by the lane, while it is young', () => {
    for (const memory of [{ mismatches: {}, refused: [] }, remembered(10_000)]) {
      const { findings, lanes } = frame(picture, counted, memory);
      expect(findings).toEqual([]);
      expect(JSON.stringify(lanes)).not.toContain('on hold');
    }
  });

  it('is told by both once it lasts', () => {
    const lasting = frame(picture, counted, remembered(60_000));
    expect(lasting.findings).toMatchObject([
      { whole: expect.stringContaining('ECS counts 2 tasks but lists 1') },
    ]);
    expect(whysOf(lasting)).toContain('scale-in on hold: ECS lists fewer tasks than it counts');
  });
});

it('names the deployment, and prices the jobs that wait beside the tasks', () => {
  const jobs = { pools: { cpu: { tasks: 'B' } }, pending: [{ jobs: 3 }, { jobs: 2, prebuilds: true }] };
  const tags = [
    { key: 'coder-autoscaler:pool', value: 'cpu' },
    { key: 'coder-autoscaler:stack', value: 'mine' },
  ];
  const { identity, dollars } = frame(jobs, serviceIs({ tags }));
  expect(identity).toEqual({ coderd: 'coder.example.com', stack: 'mine', region: 'eu-central-1' });
  const { config } = checkConfig(draw(jobs).config);
  const { person = 0, prebuild = 0 } = config.pools[0]?.waiting ?? {};
  expect(dollars.waitingAnHour).toBeCloseTo(60 * (3 * person + 2 * prebuild), 6);
  expect(person).toBeGreaterThan(prebuild);
});

describe('the jobs that wait', () => {
  /** The first job is of a workspace of alice, which the list of workspaces has. */
  const ofAlice: Change = (snapshot) => {
    listWorkspace(snapshot);
  };
  /** `isOlder`: the list of workspaces is older than the job. */
  const listWorkspace = (snapshot: Parameters<Change>[0], { isOlder = false } = {}) => {
    const organization = organizationIn(snapshot);
    const at = organization.jobs.items.findIndex((job) => 'status' in job && job.status === 'pending');
    const metadata = { workspace_id: 'w', workspace_name: 'dev/1', template_name: 'web' };
    edit(organization.jobs.items, at, { metadata });
    const id = isOlder ? 'an earlier job' : organization.jobs.items[at]?.id;
    const latest = { build_number: 3, transition: 'start', job: { id, status: 'pending' } };
    const workspace = { organization_id: organization.id, template_id: 't', latest_build: latest };
    const items = [{ ...workspace, id: 'w', name: 'dev', owner_name: 'ali ce' }];
    Object.assign(organization, { workspaces: { status: 'ok', items } });
  };
  const picture = {
    pools: { cpu: { tasks: 'B B', max: 2 }, gpu: { tags: { cluster: 'gpu' } } },
    pending: [
      { ageS: 40 },
      { tags: { cluster: 'gpu' }, jobs: 2, ageS: 30 },
      { tags: { os: 'bsd' }, ageS: 20 },
    ],
  };

  it('link to the workspace while the list of workspaces is older than the build', () => {
    const { waiting } = frame(picture, (snapshot) => {
      listWorkspace(snapshot, { isOlder: true });
    });
    expect(waiting[0]?.rows[0]?.link).toMatch(/^https:\/\/[^/]+\/@ali%20ce\/dev$/);
  });

  it('have their owner, template, promise and a link, by tag set', () => {
    const { waiting, waitingNote } = frame(picture, ofAlice);
    expect(waitingNote).toBe(null);
    expect(waiting.map(({ tags, jobs, by, rows }) => [tags, jobs, by, rows.length])).toEqual([
      ['(untagged)', 1, 'waiting for a launch in "cpu" (max 2 is reached)', 1],
      ['cluster=gpu', 2, 'by a new task in "gpu"', 2],
      ['os=bsd', 1, 'unschedulable, see above', 1],
    ]);
    const [[alice], [gpu], [bsd]] = waiting.map(({ rows }) => rows) as [Rows, Rows, Rows];
    expect(alice).toMatchObject({ who: 'ali ce/dev', template: 'web' });
    expect(alice?.link).toMatch(/^https:\/\/[^/]+\/@ali%20ce\/dev\/builds\/3$/);
    expect(gpu).toMatchObject({
      who: 'build pending-',
      link: null,
      template: null,
    });
    expect(gpu?.start).toMatch(/^starts in about \d+ s, in most cases within \d+ s, in "gpu"$/);
    expect(bsd?.start).toMatch(
      /^start unknown: no pool and no daemon can run it, coderd fails it at \d\d:\d\d:\d\d UTC$/,
    );
  });

  it('have no promise while the function does not look', () => {
    const lastLook = { kind: 'none', logGroup: 'log' } as const;
    const { waiting, waitingNote } = frame(picture, ofAlice, undefined, lastLook);
    expect(waitingNote).toContain('the function has not looked in the last hour');
    const starts = waiting.flatMap(({ rows }) => rows.map(({ start }) => start));
    expect(starts.every((start) => start.startsWith('start unknown: the function does not look'))).toBe(true);
  });

  it('have 300 rows at most, and count all', () => {
    const { waiting } = frame({ pools: { cpu: {} }, pending: [{ jobs: 400 }] });
    expect(waiting.map(({ jobs, rows }) => [jobs, rows.length])).toEqual([[400, 300]]);
  });
});

describe('a change', () => {
  it.each([
    {
      actions: [{ kind: 'set-desired', from: 9, to: 5, why: 'tasks-left' }],
      short: '9 -> 5: 4 tasks have drained',
      others: 2,
    },
    {
      actions: [
        { kind: 'set-desired', from: 9, to: 5, why: 'tasks-left' },
        { kind: 'ask-to-leave', why: 'idle-long-enough' },
      ],
      short: '9 -> 5: 4 tasks have drained; draining 1 idle daemon',
      others: 1,
    },
    {
      actions: [{ kind: 'ask-to-leave', why: 'idle-long-enough' }],
      short: 'draining 1 idle daemon',
      others: 2,
    },
    { actions: [{ kind: 'ask-to-leave', why: 'of-a-later-version' }], short: 'drains 1 task', others: 3 },
  ])('says $short, without the other reasons of the pool', ({ actions, short, others }) => {
    const why = [
      { code: 'idle-long-enough', tasks: 1 },
      { code: 'tasks-left', tasks: 4 },
      { code: 'holding-for-unguarded', tasks: 2 },
    ];
    const applied = actions.map((action) => ({ pool: 'gpu', outcome: 'applied', ...action }));
    const line = JSON.stringify({
      message: 'look',
      pools: [{ name: 'gpu', why, unguarded: 0 }],
      actions: applied,
    });
    const [change] = changesIn(line);
    expect([change?.short, change?.others.length]).toEqual([short, others]);
    expect(change?.why).toContain('2 tasks have left');
  });
});
