/**
 * The text of a plan for overrides and retiring pools: what is in force, who set it, and what to
 * do.
 */
import { describe, expect, it } from 'vitest';
import { explainPool } from '../../cli/explain/explain-pool.ts';
import { parseSnapshot } from '../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import type { Finding, Reason } from '../../lambda/decision/model/plan.ts';
import type { NoPromise, PendingJob, Promises } from '../../lambda/decision/model/promise.ts';
import { buildText } from '../../lambda/explain/dead-build-text.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { promiseLines, promiseSentence } from '../../lambda/explain/promise-text.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';
import { planText, servedText } from '../../lambda/explain/text.ts';
import { daemonId, jobId, poolName } from '../support/parts.ts';
import { draw, type Picture } from '../support/picture.ts';
import { type Change, organizationIn, poolIs } from '../support/planned.ts';

const until = '2026-11-20T10:00:00Z';
const DEV = { workspace: 'dev', workspaceId: 'w', owner: 'alice' };
const pin = (count: number) => ({
  pin: `${count}`,
  'pin-until': until,
  'pin-by': 'anna',
  'pin-why': 'load test',
});

function textsOf(picture: Picture, change: Change = () => {}) {
  const { snapshot: document, config: settings } = draw(picture);
  change(document, settings);
  const snapshot = parseSnapshot(document);
  const deliberation = deliberate(snapshot, checkConfig(settings).config);
  return { plan: planText(deliberation.plan), explained: explainPool('cpu', deliberation, snapshot) ?? '' };
}

it('shows overrides, retiring pools and unschedulable jobs in a plan', () => {
  const { plan } = textsOf({
    pools: {
      cpu: { tasks: 'B B', overrides: pin(2) },
      data: { organization: 'data', overrides: { pause: 'all', 'pause-until': until } },
      free: { tasks: 'I20m', tags: { a: '1' }, overrides: { pause: 'scale-in', 'pause-until': until } },
      gpu: { tags: { cluster: 'gpu' }, overrides: { floor: 'two' } },
      more: { tags: { b: '1' }, overrides: { floor: '2', 'floor-until': until } },
      old: { tasks: 'B', tags: { os: 'bsd' }, retiring: true },
      gone: { tags: { os: 'plan9' }, retiring: true },
    },
    pending: [{ jobs: 3 }, { tags: { os: 'bsd' } }],
  });
  expect(plan).toMatchInlineSnapshot(`
    "plan for 20 November 2026 09:00:00 UTC

        cpu   2       3 pending jobs need a new task; needs 5 tasks, pinned at 2 until 20 November 2026 10:00:00 UTC by anna (load test) (2 busy)
        data  0       paused until 20 November 2026 10:00:00 UTC by somebody (no reason given): no launch, no drain
        free  1       scale-in paused until 20 November 2026 10:00:00 UTC by somebody (no reason given) (1 idle)
        gone  0       retiring; no tasks remain. Remove the pool from the configuration
        gpu   0       scale-in on hold: an override is invalid (see findings)
      + more  0 -> 2  an override keeps 2 tasks
      ~ old   1       retiring; 1 task of a retiring pool: draining it (1 busy)

    overrides:
        pool "cpu": pinned at 2 tasks until 20 November 2026 10:00:00 UTC by anna (load test)
        pool "data": paused until 20 November 2026 10:00:00 UTC by somebody (no reason given)
        pool "free": scale-in paused until 20 November 2026 10:00:00 UTC by somebody (no reason given)
        pool "more": at least 2 tasks until 20 November 2026 10:00:00 UTC by somebody (no reason given)

    unschedulable jobs:
      ! organization "default", tags os=bsd: 1 job (workspace_build), the oldest waits for 30 s. Pool "old" has these tags but is retiring: give the tags to another pool. coderd fails the oldest at 20 November 2026 09:29:30 UTC

    findings:
      ! pool "gpu": the tag coder-autoscaler:floor of its service is "two", not a number of tasks. Scale-in is on hold until you write the override again (\`autoscaler pin\`, \`pause\`) or remove it (\`unpin\`, \`resume\`)

    1 count to raise, 1 task to drain, 0 counts to lower"
  `);
});

describe('transitions that wait for paused or pinned pools', () => {
  const paused = { pause: 'all', 'pause-until': until, 'pause-by': 'anna', 'pause-why': 'load test' };
  const workspaces = [{ stopsInS: -600, count: 2 }, { stopsInS: 1800 }];

  it('shows who paused the pool and the command that ends the pause', () => {
    const { plan, explained } = textsOf({ pools: { cpu: { overrides: paused } }, workspaces });
    for (const part of [
      'no launch, no drain; starts no daemon for 2 autostops from 20 November 2026 08:50:00 UTC on (see findings)',
      '2 autostops from 20 November 2026 08:50:00 UTC on, overdue; no pool starts a daemon for them now',
      '2 autostops from 20 November 2026 08:50:00 UTC on wait for "cpu" (paused or pinned). Run `autoscaler resume cpu`. Pool "cpu" is paused until 20 November 2026 10:00:00 UTC by anna (load test)',
    ])
      expect(plan).toContain(part);
    expect(explained).toContain(
      '(untagged): 2 autostops from 20 November 2026 08:50:00 UTC on and 1 autostop at 20 November 2026 09:30:00 UTC -> no pool starts for it',
    );
    expect(explained).not.toContain('no known transition needs this pool');
  });

  it('shows the override of each pool', () => {
    const { plan } = textsOf({
      pools: {
        cpu: { tags: { os: 'linux' }, overrides: paused },
        gpu: { tags: { os: 'linux', gpu: '1' }, overrides: pin(0) },
      },
      workspaces: [{ tags: { os: 'linux' }, startsInS: -60 }],
    });
    expect(plan).toContain(
      '1 autostart at 20 November 2026 08:59:00 UTC waits for "cpu", "gpu" (paused or pinned). Run `autoscaler resume cpu` or `autoscaler unpin gpu`. Pool "cpu" is paused until 20 November 2026 10:00:00 UTC by anna (load test). Pool "gpu" is pinned at 0 tasks until 20 November 2026 10:00:00 UTC by anna (load test)',
    );
  });

  it.each([
    { pool: { overrides: paused, tasks: 'I1m' }, expected: 'a daemon is available' },
    {
      pool: { overrides: pin(1) },
      expected: 'a daemon that the pool keeps for another reason will serve it',
    },
  ])('are not reported as waiting when the pool has a daemon: $pool', ({ pool, expected }) => {
    expect(textsOf({ pools: { cpu: pool }, workspaces: [{ stopsInS: -30 }] }).explained).toContain(
      `(untagged): 1 autostop at 20 November 2026 08:59:30 UTC -> ${expected}`,
    );
  });
});

describe('the explanation of a pool', () => {
  it('names the stack to which a transition is left', () => {
    const stacks = [
      ['us', 'eu'],
      ['eu', 'us'],
    ] as const;
    const texts = stacks.map(
      ([self, peer]) =>
        textsOf(
          { pools: { cpu: {} }, workspaces: [{ startsInS: 600 }] },
          poolIs({ peers: { self, others: [peer] } }),
        ).explained,
    );
    const start = '(untagged): 1 autostart at 20 November 2026 09:10:00 UTC ->';
    // the tag set belongs to the first
    expect(texts[0]).toContain(`${start} this pool starts for it at`);
    expect(texts[1]).toContain(`${start} left to stack us until 20 November 2026 09:14:00 UTC\n`);
    expect(texts[1]).not.toContain('no known transition');
  });

  it('tells why a count is above what the pool needs', () => {
    const { plan } = textsOf({ pools: { cpu: { tasks: 'B L', overrides: pin(2) } } });
    expect(plan).toContain(
      '+ cpu  2 -> 3  a pin keeps 2 tasks; the desired count includes 1 leaving task until ECS has stopped it (1 busy, 1 leaving)',
    );
  });

  it('counts desired tasks that ECS has not created apart from starting ones', () => {
    const { plan } = textsOf({ pools: { cpu: { tasks: 'P', desired: 3 } }, pending: [{ jobs: 3 }] });
    expect(plan).toContain('starting daemons will take 3 pending jobs (1 starting, 2 not created yet)');
  });

  it.each([
    {
      pool: { retiring: true, tasks: 'L L P' },
      expected: ['because: waits for 2 draining tasks, 1 starting task\n'],
    },
    {
      pool: { retiring: true, tasks: 'L U1m P P' },
      expected: [
        'waits for 2 draining tasks, 2 starting tasks\n',
        'leaving    no lease, daemon idle for 60 s\n',
      ],
    },
    {
      pool: { tasks: 'B B', overrides: pin(1) },
      expected: ['1 task above the pin. Running builds finish'],
    },
    { pool: { retiring: true }, expected: ['retiring: all tasks drain', 'max 0 (retiring)'] },
    {
      pool: { tasks: 'I20m', overrides: pin(0) },
      expected: [
        'floors: the highest of min 0 (pin), wake 0, and these 0 + due 0 + warm 0 -> 0',
        'limits: needs 0, within max 0 (pin)',
        'because: 1 task above the pin. Running builds finish; idle daemons drain after idleTimeout',
      ],
    },
    {
      pool: { overrides: { pause: 'all', 'pause-until': until } },
      expected: ['paused until', 'max 0 (paused)'],
    },
    {
      pool: { overrides: { floor: '2', 'floor-until': until } },
      expected: ['min 2 (override)', 'within max 20'],
    },
  ])('shows the effect of $pool', ({ pool, expected }) => {
    const { explained } = textsOf({ pools: { cpu: pool } });
    for (const part of expected) expect(explained).toContain(part);
  });
});

it('says that a retiring pool waits for a task that runs a job without a lease', () => {
  const waits = { code: 'retiring-waits', starting: 0, leaving: 1, unguarded: 1 } as const;
  expect(reasonSentence(waits)).toBe(
    'waits for 1 draining task, 1 task without a lease. The autoscaler cannot drain tasks without a lease: remove the pool when no build runs in it',
  );
});

it.each([
  { tag: 'coder-autoscaler:pin-until', seen: '', problem: 'no-end', expected: 'without the tag' },
  {
    tag: 'coder-autoscaler:pin-until',
    seen: 'noon',
    problem: 'unreadable-end',
    expected: 'is "noon", not a time',
  },
  {
    tag: 'coder-autoscaler:pause',
    seen: 'on',
    problem: 'unknown-value',
    expected: 'not "all" or "scale-in"',
  },
  { tag: 'coder-autoscaler:paused', seen: 'all', problem: 'unknown-tag', expected: 'unknown tag' },
  { tag: 'coder-autoscaler:floor', seen: 'two', problem: 'unknown-value', expected: 'not a number of tasks' },
] as const)(
  'shows which value is allowed for the tag $tag with value "$seen"',
  ({ expected, ...malformed }) => {
    const text = sentenceOf({ code: 'override-malformed', pool: poolName('cpu'), ...malformed });
    expect(text).toContain(expected);
    expect(text).toContain(malformed.tag);
  },
);

it('tells you to replace a token that expires', () => {
  expect(sentenceOf({ code: 'token-expires', at: until })).toMatch(
    /expires at 20 November 2026 10:00:00 UTC.*Create a new token/,
  );
});

it('explains why a service has no pool, and what to do about it', () => {
  const left = { code: 'service-without-pool', pool: 'old', service: 'Stack-old' } as const;
  expect(sentenceOf({ ...left, drains: false })).toMatch(
    /another deployment owns it, or the pool was removed.*retiring: true.*may stop builds/,
  );
  expect(sentenceOf({ ...left, drains: true })).toMatch(/Its tasks drain, and builds finish\. Delete/);
});

it.each<{ readonly text: string; readonly says: string }>([
  { text: sentenceOf({ code: 'version-unknown' }), says: 'is unknown. Assuming 2.25 or older, which lists' },
  { text: sentenceOf({ code: 'license-in-grace' }), says: 'daemons has expired and is in its grace period' },
  {
    text: reasonSentence({ code: 'holding-for-doubt', doubts: ['jobs-failed', 'server-too-old'] }),
    says: 'launches for jobs and scale-in on hold: ',
  },
  {
    text: reasonSentence({ code: 'holding-for-doubt', doubts: ['server-too-old'] }),
    says: 'scale-in on hold: coderd is too old',
  },
  { text: servedText({ pool: null, served: 'by-free' }), says: 'by a free daemon of others' },
  { text: buildText({ ...DEV, transition: null }), says: 'build of alice/dev' },
])('says: $says', ({ text, says }) => {
  expect(text).toContain(says);
});

it('explains which daemons will run the jobs', () => {
  const pools = { cpu: { tasks: 'I1m' } };
  expect(textsOf({ pools, pending: [{ jobs: 3 }] }).explained).toContain(
    '-> 1 by a free daemon in "cpu", 2 by a new task in "cpu"',
  );
});

describe('the sentence about free daemons', () => {
  const learned = {
    builds: 31,
    hours: 40,
    dollarsPerHour: { tasks: 0.054, waiting: 0.126 },
    others: [
      { free: 2, dollarsPerHour: 0.33 },
      { free: 5, dollarsPerHour: 0.39 },
    ],
  };
  const stock: Extract<Reason, { readonly code: 'stock' }> = {
    ...{ code: 'stock', daemons: 3, free: 3, spare: 0, countsBusy: false },
    ...{ spareMinutes: 10, afterBuildMinutes: null, wouldHave: null, learned: null },
  };
  const costs =
    'Weighted for this hour, it costs $0.18 an hour ($0.05 tasks, $0.13 waiting), with 2 free $0.33, with 5 free $0.39';

  it.each<{ given: Partial<typeof stock>; expected: string; because: string }>([
    {
      given: {},
      expected: 'keeps 3 daemons free, nothing learned from builds yet. Rule: 3 free, spare ones stay 10 min',
      because: 'nothing is learned',
    },
    {
      given: { daemons: 8, spare: 5 },
      expected:
        'keeps 8 daemons free, nothing learned from builds yet. Rule: 3 free, spare ones (5 now) stay 10 min',
      because: 'some are spare',
    },
    {
      given: { learned, afterBuildMinutes: 60 },
      expected: `keeps 3 daemons free, learned from 31 builds in 40 h. Rule: 3 free until 1 h after the last build, spare ones stay 10 min. ${costs}`,
      because: 'it is learned',
    },
    {
      given: { learned, daemons: 1, countsBusy: true },
      expected: `keeps 1 daemon free, learned from 31 builds in 40 h. Rule: 3 free or busy, spare ones stay 10 min. ${costs}`,
      because: 'busy daemons count, and other pools may keep some',
    },
    {
      given: { daemons: 2, free: 0, spareMinutes: 60 },
      expected: 'keeps 2 daemons free, nothing learned from builds yet. Rule: idle daemons stay 1 h',
      because: 'no daemon is launched for the stock',
    },
    {
      given: { daemons: 2, free: 0, spareMinutes: 60, wouldHave: 3 },
      expected:
        'keeps 2 daemons free, nothing learned from builds yet. Rule: idle daemons stay 1 h (it would have 3 by now, busy ones included)',
      because: 'the rule would have more daemons',
    },
  ])('is complete when $because', ({ given, expected }) => {
    expect(reasonSentence({ ...stock, ...given })).toBe(expected);
  });

  it.each([
    { hours: 1 / 6, says: '10 min' },
    { hours: 34 / 3, says: '11 h' },
    { hours: 47.4, says: '47 h' },
    { hours: 60, says: '3 days' },
  ])('rounds the time in which it has learned to $says', ({ hours, says }) => {
    const text = reasonSentence({ ...stock, learned: { ...learned, hours } });
    expect(text).toContain(`learned from 31 builds in ${says}. `);
  });

  it.each([
    { tasks: 0.04, waiting: 0.05, says: '$0.090 an hour ($0.040 tasks, $0.050 waiting)' },
    { tasks: 0.05, waiting: 0.05, says: '$0.10 an hour ($0.05 tasks, $0.05 waiting)' },
  ])('has one more digit below 10 cents: $says', ({ says, ...dollarsPerHour }) => {
    const text = reasonSentence({ ...stock, learned: { ...learned, dollarsPerHour } });
    expect(text).toContain(`it costs ${says}, `);
  });

  it('says why a rule that looks cheaper is not in force', () => {
    const others = [{ free: 2, dollarsPerHour: 0.15 }];
    expect(reasonSentence({ ...stock, learned: { ...learned, hours: 71, others } })).toMatch(
      /in 3 days\. .*, with 2 free \$0\.15 \(not clearly cheaper yet\)$/,
    );
  });
});

it('says which daemons claim a task, what follows and what to do', () => {
  const pool = poolName('cpu');
  const rows = [
    { id: daemonId('f1'), key: 'gpu' },
    { id: daemonId('f2'), key: null },
  ];
  expect(
    sentenceOf({ code: 'daemons-share-task', pool, tasks: 1, daemons: ['cpu-0a', 'ip-10-0-1-2'], rows }),
  ).toMatchInlineSnapshot(
    `"pool "cpu": 1 task may have more than one daemon (cpu-0a, ip-10-0-1-2; coderd's rows f1 with key "gpu", f2). Stop the daemon that runs outside the task. 90 s later its row no longer counts; until then scale-in of the pool is on hold. The rows do not tell which one runs in the task. If nobody knows it, replace the pool's key. \`coder provisioner keys delete\` deletes the rows of a key at once"`,
  );
  expect(
    sentenceOf({ code: 'possible-intruder', pool, daemons: [{ name: 'x-0a', key: 'gpu' }] }),
  ).toMatchInlineSnapshot(
    `"pool "cpu": 1 unknown daemon has the id or the address of one of its tasks (x-0a with key "gpu"). Find out who started it. The name or the tags are not those of that task's daemon. The autoscaler ignores it, but coderd gives it jobs and their secrets. If nobody knows it, replace the key and delete the old one in coderd"`,
  );
  const two = [
    { name: 'x-0a', key: 'gpu' },
    { name: 'x-0b', key: null },
  ];
  expect(sentenceOf({ code: 'possible-intruder', pool, daemons: two })).toContain(
    '2 unknown daemons have the id or the address of one of its tasks',
  );
});

// The sentences about promised starts.

const takenAt = '2026-11-20T09:00:00.000Z';
const at = (seconds: number): string => new Date(Date.parse(takenAt) + seconds * 1000).toISOString();
const startsIn = (p50: number, p95: number) => ({ p50: at(p50), p95: at(p95) });

const job = (given: Partial<PendingJob> = {}): PendingJob => ({
  id: jobId('1a2b3c4d-0000-4000-8000-000000000000'),
  organization: 'default',
  tags: { cluster: 'gpu' },
  type: 'workspace_build',
  workspace: 'alice/dev',
  createdAt: at(-20),
  failsAt: at(1780),
  pool: poolName('gpu'),
  startsAt: startsIn(40, 95),
  runningBuilds: 0,
  why: null,
  ...given,
});

it.each<{ given: Partial<PendingJob>; text: string }>([
  {
    given: {},
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 40 s, in most cases within 95 s',
  },
  {
    given: { workspace: null, tags: {}, startsAt: startsIn(400, 900) },
    text: 'job 1a2b3c4d of organization "default" (untagged): starts in about 7 min, in most cases within 15 min',
  },
  {
    given: { startsAt: startsIn(1200, 2400) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 20 min, in most cases within 40 min, unless coderd fails it first, in 30 min',
  },
  {
    given: { startsAt: startsIn(1200, 2400), failsAt: null },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 20 min, in most cases within 40 min',
  },
  {
    given: { startsAt: startsIn(300, 900), runningBuilds: 3 },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 5 min, in most cases within 15 min, depending on 3 running builds',
  },
  {
    given: { startsAt: startsIn(40, 40) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts in about 40 s',
  },
  {
    given: { startsAt: startsIn(0, 1) },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): starts now',
  },
  {
    given: { startsAt: null, why: 'no-room' },
    text: 'job 1a2b3c4d of alice/dev (tags cluster=gpu): start unknown: it waits for room within the limits',
  },
])('says "$text"', ({ given, text }) => {
  expect(promiseSentence(job(given), takenAt)).toBe(text);
});

it('shows the first jobs, counts the others, and leaves unschedulable ones to their own section', () => {
  const promises: Promises = {
    pendingJobs: [
      job({ startsAt: null, why: 'unschedulable' }),
      ...Array.from({ length: 5 }, (_, at) => job({ id: jobId(`job-${at}`) })),
    ],
    pendingJobsLeftOut: 200,
  };
  const lines = promiseLines(promises, { takenAt, most: 2 });
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toBe('and 203 jobs more; --json has the first 6');
  expect(lines.join()).not.toContain('unschedulable');
});

it('has one line for all jobs whose start is unknown for the same reason', () => {
  const waiting = (count: number, why: NoPromise) =>
    Array.from({ length: count }, () => job({ startsAt: null, why }));
  const promises: Promises = {
    pendingJobs: [
      ...waiting(9, 'no-room'),
      job(),
      ...waiting(2, 'build-length-unknown'),
      ...waiting(1, 'no-room'),
    ],
    pendingJobsLeftOut: 0,
  };
  expect(promiseLines(promises, { takenAt, most: 2 })).toEqual([
    '10 jobs of organization "default" (tags cluster=gpu): start unknown: it waits for room within the limits',
    promiseSentence(job(), takenAt),
    'and 2 jobs more; --json has them',
  ]);
});

// * The text for transitions that coderd refuses: which workspaces, likely causes, and the next try.

type Refused = Extract<Finding, { readonly code: 'transitions-refused' }>;

/** Workspaces due since 08:10, and a daemon that was there from 08:00 until 08:30; it is 09:00. */
function planOf(
  workspaces: Picture['workspaces'],
  members: readonly object[] = [],
  pools: Picture['pools'] = { cpu: {} },
) {
  const { snapshot: document, config: settings } = draw({
    pools,
    strangers: [{}],
    ...(workspaces && { workspaces }),
  });
  const organization = organizationIn(document);
  Object.assign(organization.daemons.items[0] ?? {}, { last_seen_at: '2026-11-20T08:28:30Z' });
  Object.assign(organization, { members: { status: 'ok', takenAt: document.takenAt, items: members } });
  for (const [index, workspace] of (organization.workspaces?.items ?? []).entries())
    Object.assign(workspace, { name: `dev-${index}`, owner_name: 'ada', owner_id: 'ada-id' });
  const snapshot = parseSnapshot(document);
  const deliberation = deliberate(snapshot, checkConfig(settings).config);
  const { findings, actions } = deliberation.plan;
  const refused = findings.find((finding): finding is Refused => finding.code === 'transitions-refused');
  return { refused, findings, actions, explained: explainPool('cpu', deliberation, snapshot) ?? '' };
}

const STARTS = [{ startsInS: -3000 }];
const STOPS = [{ stopsInS: -3000 }];

describe('the finding transitions-refused', () => {
  it('names ten workspaces with their owners and counts the rest', () => {
    const { refused } = planOf([{ startsInS: -3000, count: 12 }]);
    expect(refused).toMatchObject({ transitions: 12, at: '2026-11-20T08:10:00.000Z', ownersUnknown: 12 });
    expect(refused?.workspaces).toHaveLength(10);
    expect(refused && sentenceOf(refused)).toMatch(/: ada\/dev-\d+, .* and 2 more\. /);
  });

  it('tells you what to do', () => {
    const { refused } = planOf(STARTS);
    expect(refused && sentenceOf(refused)).toMatchInlineSnapshot(
      `"organization "default", tags (untagged): coderd refused 1 autostart at 20 November 2026 08:10:00 UTC although it saw a daemon. Look for "failed to transition workspace" in coderd's log. A required parameter may have no value. coderd starts only workspaces of active owners, and does not tell whether 1 owner is suspended or dormant. To end it, clear the schedule of the workspace. Workspaces: ada/dev-0. The autoscaler next starts a pool for it at 20 November 2026 09:30:00 UTC"`,
    );
  });

  it('does not mention owners that coderd reports as active', () => {
    const { refused } = planOf(STARTS, [{ user_id: 'ada-id', status: 'active' }]);
    expect(refused?.ownersUnknown).toBe(0);
    expect(refused && sentenceOf(refused)).not.toContain('suspended');
  });

  it('does not mention schedules for a refused stop', () => {
    const { refused } = planOf(STOPS);
    expect(refused && sentenceOf(refused)).toMatch(
      /coderd refused 1 autostop at 20 November 2026 08:10:00 UTC .*\. A required parameter may have no value\. Workspaces: .*\. The /,
    );
    expect(refused && sentenceOf(refused)).not.toMatch(/schedule|suspended/);
  });

  it.each<{ readonly pools: Picture['pools']; readonly because: string }>([
    { pools: { cpu: { tags: { size: 'large' } } }, because: 'no pool has the tags' },
    { pools: { cpu: { wake: false } }, because: 'no pool with the tags wakes' },
  ])('promises no start of a pool if $because', ({ pools }) => {
    const { refused } = planOf(STARTS, [], pools);
    expect(refused?.nextTryAt).toBeNull();
    expect(refused && sentenceOf(refused)).toMatch(
      / of the workspace\. Workspaces: .*\. The autoscaler starts no pool for it: none that may start has these tags$/,
    );
  });

  it('replaces the finding transitions-late and starts no pool', () => {
    const { findings, actions } = planOf(STARTS);
    expect(findings.map(({ code }) => code)).toEqual(['transitions-refused']);
    expect(actions).toEqual([]);
  });
});

it('shows in the explanation when a pool starts again', () => {
  const line = planOf(STARTS)
    .explained.split('\n')
    .find((text) => text.includes('refused'));
  expect(line?.trim()).toMatchInlineSnapshot(
    `"(untagged): 1 autostart at 20 November 2026 08:10:00 UTC that coderd has refused although it saw a daemon -> no pool starts for it before 20 November 2026 09:30:00 UTC"`,
  );
});
