/** The sentence of each reason, whole: a word that is missing or wrong misleads a person at night. */
import { describe, expect, it } from 'vitest';
import type { Doubt, Override, Reason, ReasonOf } from '../../lambda/decision/model/plan.ts';
import { overrideText, reasonIn, reasonSentence } from '../../lambda/explain/reason-text.ts';
import { poolName } from '../support/parts.ts';

type Example<Code extends Reason['code']> = readonly [Omit<ReasonOf<Code>, 'code'>, sentence: string];

const NOTE = { until: '2026-11-20T10:00:00.000Z', by: 'anna', why: 'load test' };
const SINCE = '2026-11-20T08:10:00.000Z';
const STOP = { kind: 'autostop', transitions: 1, at: '2026-11-20T09:30:00.000Z' } as const;
const STARTS = { kind: 'autostart', transitions: 5, at: '2026-11-20T09:00:00.000Z' } as const;
const OVERALL = { wanted: 9, granted: 4, waitMinutesPerHour: 0 };
const STOCK = {
  ...{ daemons: 3, free: 3, spare: 0, countsBusy: false },
  ...{ spareMinutes: 10, afterBuildMinutes: null, wouldHave: null, learned: null },
};
const LEARNED = {
  ...{ builds: 1, hours: 0.5, dollarsPerHour: { tasks: 0.06, waiting: 0.12 } },
  others: [
    { free: 2, dollarsPerHour: 0.18 },
    { free: 4, dollarsPerHour: 0.17 },
  ],
};
const INSTEAD = { interruptions: 2, spotDollarsPerHour: 0.456 };
const KEY = {
  secret: 'coder/keys',
  kind: 'key',
  held: null,
  changedAt: '2026-11-20T08:00:00.000Z',
  previousAt: '2026-11-12T08:00:00.000Z',
} as const;
const SWAP = { tasks: 3, of: 8, draining: 0, asked: 0 };

/** A code without an example does not compile. */
const REASONS: { readonly [Code in Reason['code']]: readonly Example<Code>[] } = {
  'pending-jobs': [
    [{ jobs: 1 }, '1 pending job needs a new task'],
    [{ jobs: 2 }, '2 pending jobs need a new task'],
  ],
  'served-by-free': [[{ jobs: 1 }, 'free daemons will take 1 pending job']],
  'served-by-starting': [[{ jobs: 2 }, 'starting daemons will take 2 pending jobs']],
  'served-by-busy': [
    [{ jobs: 1 }, '1 pending job waits for a busy daemon'],
    [{ jobs: 2 }, '2 pending jobs wait for a busy daemon'],
  ],
  'left-to-peers': [
    [
      { jobs: 1, peers: ['eu'], until: NOTE.until },
      '1 pending job is left to stack eu until 20 November 2026 10:00:00 UTC',
    ],
    [
      { jobs: 2, peers: ['eu', 'us'], until: NOTE.until },
      '2 pending jobs are left to stack eu, us until 20 November 2026 10:00:00 UTC',
    ],
  ],
  floor: [
    [{ from: 'min', count: 1 }, 'min keeps 1 task'],
    [{ from: 'warm', count: 2 }, 'warm keeps 2 daemons, busy ones included'],
    [{ from: 'schedule', count: 1 }, 'a schedule keeps 1 daemon, busy ones included'],
    [{ from: 'pin', count: 2 }, 'a pin keeps 2 tasks'],
    [{ from: 'override', count: 1 }, 'an override keeps 1 task'],
  ],
  stock: [
    [STOCK, 'keeps 3 daemons free, nothing learned from builds yet. Rule: 3 free, spare ones stay 10 min'],
    [
      { ...STOCK, free: 0, spareMinutes: 59 },
      'keeps 3 daemons free, nothing learned from builds yet. Rule: idle daemons stay 59 min',
    ],
    [
      { ...STOCK, free: 0, spareMinutes: 60, wouldHave: 4 },
      'keeps 3 daemons free, nothing learned from builds yet. Rule: idle daemons stay 1 h (it would have 4 by now, busy ones included)',
    ],
    [
      { ...STOCK, daemons: 1, spare: 1, countsBusy: true, afterBuildMinutes: 120, spareMinutes: 60 },
      'keeps 1 daemon free, nothing learned from builds yet. Rule: 3 free or busy until 2 h after the last build, spare ones (1 now) stay 1 h',
    ],
    [
      { ...STOCK, learned: LEARNED },
      'keeps 3 daemons free, learned from 1 build in 30 min. Rule: 3 free, spare ones stay 10 min. Weighted for this hour, it costs $0.18 an hour ($0.06 tasks, $0.12 waiting), with 2 free $0.18, with 4 free $0.17 (not clearly cheaper yet)',
    ],
    [
      { ...STOCK, learned: { ...LEARNED, builds: 31, hours: 1, others: [] } },
      'keeps 3 daemons free, learned from 31 builds in 1 h. Rule: 3 free, spare ones stay 10 min. Weighted for this hour, it costs $0.18 an hour ($0.06 tasks, $0.12 waiting)',
    ],
    [
      { ...STOCK, learned: { ...LEARNED, builds: 31, hours: 48, others: [] } },
      'keeps 3 daemons free, learned from 31 builds in 2 days. Rule: 3 free, spare ones stay 10 min. Weighted for this hour, it costs $0.18 an hour ($0.06 tasks, $0.12 waiting)',
    ],
    [
      {
        ...STOCK,
        learned: { ...LEARNED, hours: 47.4, dollarsPerHour: { tasks: 0.05, waiting: 0.049 }, others: [] },
      },
      'keeps 3 daemons free, learned from 1 build in 47 h. Rule: 3 free, spare ones stay 10 min. Weighted for this hour, it costs $0.099 an hour ($0.050 tasks, $0.049 waiting)',
    ],
  ],
  'holding-for-record': [
    [{ tasks: 1 }, '1 idle daemon kept: the autoscaler has not learned from enough builds yet'],
  ],
  'making-room': [
    [
      { tasks: 2 },
      'draining 2 idle daemons: a limit over all pools is reached and another pool needs capacity',
    ],
  ],
  'awake-for': [
    [{ for: [STOP] }, 'needs a daemon for 1 autostop at 20 November 2026 09:30:00 UTC'],
    [
      { for: [STARTS, STOP] },
      'needs a daemon for 5 autostarts from 20 November 2026 09:00:00 UTC on and 1 autostop at 20 November 2026 09:30:00 UTC',
    ],
  ],
  'holding-for-forecast': [
    [{}, 'last daemon kept: the forecast of what coderd will do is incomplete (see findings)'],
  ],
  'not-woken-for': [
    [{ for: [STOP] }, 'starts no daemon for 1 autostop at 20 November 2026 09:30:00 UTC (see findings)'],
  ],
  prewarm: [[{ daemons: 1, due: 2 }, 'prepares 1 daemon for 2 jobs that coderd is about to create']],
  'capped-at-prewarm-max': [
    [{ due: 5, max: 1 }, '5 jobs due, limited to 1 daemon by max until coderd creates the jobs'],
  ],
  'launching-for-jobs-only': [
    [{ wanted: 1 }, 'needs 1 task, but only pending jobs launch tasks now (see findings)'],
  ],
  'launching-to-be-seen': [
    [
      {},
      'launches 1 task, so that coderd sees a daemon of this pool (one an hour while coderd lists none, or heartbeats look old)',
    ],
  ],
  'launching-beside-unseen': [
    [
      { tasks: 1 },
      'launches 1 task beside one whose daemon coderd does not list. If the new daemon registers, the others get replaced',
    ],
    [
      { tasks: 2 },
      'launches 1 task beside 2 whose daemons coderd does not list. If the new daemon registers, the others get replaced',
    ],
  ],
  pinned: [
    [
      { wanted: 5, count: 2, ...NOTE },
      'needs 5 tasks, pinned at 2 until 20 November 2026 10:00:00 UTC by anna (load test)',
    ],
  ],
  'above-pin': [
    [{ tasks: 3 }, '3 tasks above the pin. Running builds finish; idle daemons drain after idleTimeout'],
  ],
  paused: [[NOTE, 'paused until 20 November 2026 10:00:00 UTC by anna (load test): no launch, no drain']],
  'scale-in-paused': [[NOTE, 'scale-in paused until 20 November 2026 10:00:00 UTC by anna (load test)']],
  'retiring-waits': [
    [{ starting: 1, leaving: 0, unguarded: 0 }, 'waits for 1 starting task'],
    [{ starting: 0, leaving: 1, unguarded: 0 }, 'waits for 1 draining task'],
    [
      { starting: 2, leaving: 2, unguarded: 2 },
      'waits for 2 draining tasks, 2 starting tasks, 2 tasks without a lease. The autoscaler cannot drain tasks without a lease: remove the pool when no build runs in it',
    ],
  ],
  retired: [[{}, 'no tasks remain. Remove the pool from the configuration']],
  'capped-at-max': [[{ wanted: 7, max: 3 }, 'needs 7 tasks, limited to 3 by max']],
  'on-demand-instead': [
    [{ because: 'placement-failing', ...INSTEAD }, 'launching on demand: ECS cannot place Spot tasks'],
    [{ because: 'starts-failing', ...INSTEAD }, 'launching on demand: Spot tasks fail to start'],
    [{ because: 'no-service', ...INSTEAD }, 'launching on demand: the pool has no service on Spot'],
    [
      { because: 'interrupted', ...INSTEAD },
      'launching on demand: AWS took back 2 Spot tasks in the last hour. With the lost builds a Spot task costs $0.46 an hour',
    ],
  ],
  'capped-at-max-tasks': [
    [{ ...OVERALL, maxTasks: 20 }, 'needs 9 tasks, limited to 4 by limits.maxTasks 20'],
    [
      { ...OVERALL, waitMinutesPerHour: 12, maxTasks: 20 },
      'needs 9 tasks, limited to 4 by limits.maxTasks 20; people wait 12 more minutes an hour',
    ],
  ],
  'capped-at-dollars-per-hour': [
    [{ ...OVERALL, dollarsPerHour: 1.5 }, 'needs 9 tasks, limited to 4 by limits.dollarsPerHour 1.5'],
    [
      { ...OVERALL, waitMinutesPerHour: 12, dollarsPerHour: 1.5 },
      'needs 9 tasks, limited to 4 by limits.dollarsPerHour 1.5; people wait 12 more minutes an hour',
    ],
  ],
  'capped-at-prebuilds-max-tasks': [
    [{ jobs: 3, maxTasks: 16 }, '3 prebuilds on hold: launches for prebuilds stop at 16 tasks (4/5 of max)'],
  ],
  'left-to-next-look': [
    [
      { to: 4, changes: 10 },
      'the desired count becomes 4 at a later look: a look changes 10 counts, so that ECS refuses none',
    ],
  ],
  'idle-long-enough': [[{ tasks: 1 }, 'draining 1 idle daemon']],
  'idle-too-briefly': [[{ tasks: 2 }, '2 idle daemons will drain after idleTimeout']],
  retiring: [
    [{ tasks: 1, asked: 0 }, '1 task of a retiring pool: waiting for its turn to be replaced'],
    [{ tasks: 2, asked: 0 }, '2 tasks of a retiring pool: waiting for their turn to be replaced'],
    [{ tasks: 2, asked: 1 }, '2 tasks of a retiring pool: draining 1 of them'],
    [{ tasks: 2, asked: 2 }, '2 tasks of a retiring pool: draining them'],
    [{ tasks: 1, asked: 1 }, '1 task of a retiring pool: draining it'],
  ],
  'no-daemon': [
    [{ tasks: 1, asked: 1 }, '1 task holds a lease and has no daemon: draining it'],
    [{ tasks: 2, asked: 2 }, '2 tasks hold a lease and have no daemon: draining them'],
  ],
  'wrong-key': [
    [{ tasks: 1, asked: 1 }, '1 daemon has the wrong provisioner key: draining it'],
    [{ tasks: 2, asked: 2 }, '2 daemons have the wrong provisioner key: draining them'],
  ],
  'old-revision': [[{ tasks: 2, asked: 1 }, '2 tasks of an old revision: draining 1 of them']],
  'old-secret': [
    [{ ...KEY, ...SWAP }, '3 of 8 tasks still use the key of 12 November 2026: 3 wait for their turn'],
    [
      { ...KEY, ...SWAP, tasks: 1 },
      '1 of 8 tasks still uses the key of 12 November 2026: 1 waits for its turn',
    ],
    [
      { ...KEY, ...SWAP, tasks: 4, draining: 1, asked: 2 },
      '4 of 8 tasks still use the key of 12 November 2026: draining 2, 1 drains already, 1 waits for its turn',
    ],
    [
      { ...KEY, ...SWAP, draining: 2, asked: 1, previousAt: null },
      '3 of 8 tasks still use a key from before 20 November 2026 08:00:00 UTC: draining 1, 2 drain already',
    ],
    [
      { ...KEY, ...SWAP, kind: 'managed', asked: 3, previousAt: '2026-11-20T07:00:00.000Z' },
      '3 of 8 tasks still use the key of 20 November 2026 07:00:00 UTC: draining 3',
    ],
    [
      { ...KEY, ...SWAP, kind: 'psk', held: 'until-connected' },
      '3 of 8 tasks still use the pre-shared key of 12 November 2026: replaced once a daemon connects with the new one (see findings)',
    ],
    [
      { ...KEY, ...SWAP, kind: 'token', asked: 3 },
      '3 of 8 tasks still use the token of 12 November 2026: draining 3',
    ],
    [
      { ...KEY, ...SWAP, kind: 'variable', asked: 3 },
      '3 of 8 tasks still use the value of secret coder/keys of 12 November 2026: draining 3',
    ],
  ],
  protecting: [
    [{ tasks: 1 }, 'protecting 1 task that has no guard'],
    [{ tasks: 2 }, 'protecting 2 tasks that have no guard'],
  ],
  'tasks-left': [
    [{ tasks: 1 }, '1 task has drained'],
    [{ tasks: 2 }, '2 tasks have drained'],
  ],
  'includes-leaving': [
    [{ tasks: 1 }, 'the desired count includes 1 leaving task until ECS has stopped it'],
    [{ tasks: 2 }, 'the desired count includes 2 leaving tasks until ECS has stopped them'],
  ],
  'count-below-tasks': [
    [{ desired: 1, tasks: 1, to: 1 }, 'desired count 1 is lower than the 1 task that has not drained'],
    [
      { desired: 1, tasks: 3, to: 2 },
      'desired count 1 is lower than the 3 tasks that have not drained, limited to 2 by max',
    ],
  ],
  'holding-for-starting': [
    [{ tasks: 1 }, 'desired count not lowered while 1 task is starting'],
    [{ tasks: 2 }, 'desired count not lowered while 2 tasks are starting'],
  ],
  'holding-for-unguarded': [
    [{ tasks: 1 }, 'scale-in on hold: 1 task without a lease, until coderd lists its daemon as offline'],
    [{ tasks: 2 }, 'scale-in on hold: 2 tasks without a lease, until coderd lists their daemons as offline'],
  ],
  'holding-for-deployment': [
    [{}, 'idle daemons stay and the desired count does not fall while a deployment is in progress'],
  ],
  'holding-for-doubt': [
    [
      { doubts: ['jobs-forbidden'] },
      'launches for jobs and scale-in on hold: no permission to list provisioner jobs',
    ],
    [
      { doubts: ['server-too-old', 'jobs-failed'] },
      'launches for jobs and scale-in on hold: coderd is too old, could not list provisioner jobs',
    ],
    [
      { doubts: ['jobs-stale', 'daemons-truncated'] },
      'scale-in on hold: the list of provisioner jobs is stale, the list of provisioner daemons is truncated',
    ],
  ],
  'starts-failing': [
    [
      { failures: 0, tries: 'one', wanted: 3, granted: 1, reason: 'pull' },
      'tasks do not start, trying one task at a time (needs 3 tasks, gets 1). Cause: pull',
    ],
    [
      { failures: 1, tries: 'few', wanted: 3, granted: 2, reason: 'pull' },
      'ECS lists 1 failed start since the last success, trying few tasks at a time (needs 3 tasks, gets 2). Cause: pull',
    ],
    [
      { failures: 3, tries: 'later', wanted: 1, granted: 0, reason: 'exit code 1' },
      'ECS lists 3 failed starts since the last success, pausing before the next try (needs 1 task, gets 0). Cause: the provisioner exited. Read its log: often the provisioner key or token is wrong or coder.url is unreachable (exit code 1)',
    ],
  ],
  'role-untried': [
    [
      { wanted: 3, granted: 1 },
      'needs 3 tasks, gets 1 for now: no task has had a lease with its new role yet (bindTaskRoles). The others launch once one has',
    ],
  ],
  'starts-unread': [
    [
      { wanted: 3, granted: 1 },
      'needs 3 tasks, gets 1 for now: without the unread lists nothing tells whether starts fail. One more may start each 10 min',
    ],
  ],
  'counts-unread-pools': [
    [
      {
        pools: [
          { pool: poolName('cpu'), tasks: 2, from: 'tasks' },
          { pool: poolName('gpu'), tasks: 1, from: 'memory' },
          { pool: poolName('big'), tasks: 4, from: 'max' },
        ],
      },
      'the limit counts 7 tasks of pools whose services cannot be read: cpu 2 (listed by ECS), gpu 1 (as last seen), big 4 (its max, as nothing is known)',
    ],
  ],
  'placement-failing': [
    [
      { tasks: 0, since: SINCE, wanted: 3, granted: 1, reason: 'no room' },
      'ECS has failed to place tasks since 20 November 2026 08:10:00 UTC, trying one task at a time (needs 3 tasks, gets 1). Cause: no room',
    ],
    [
      { tasks: 2, since: SINCE, wanted: 3, granted: 1, reason: 'no room' },
      'ECS has failed to place 2 tasks since 20 November 2026 08:10:00 UTC, trying one task at a time (needs 3 tasks, gets 1). Cause: no room',
    ],
  ],
  'starts-throttled': [
    [
      { tasks: 2, since: SINCE, waitedMs: 720_000 },
      'ECS has not tried to start 2 tasks for 12 min, since a start failed at 20 November 2026 08:10:00 UTC. It waits longer after each failure, up to 27 min',
    ],
  ],
  'waiting-for-vacant': [
    [{ tasks: 1 }, 'launches on hold until ECS stops 1 task whose daemon never registered'],
  ],
  'license-missing': [
    [
      { wanted: 2 },
      'needs 2 tasks and launches none: coderd has no license for external daemons and refuses them',
    ],
  ],
  'server-too-old': [
    [{ version: 'v2.19.3', oldest: '2.20' }, 'coderd v2.19.3 is too old. Upgrade it to 2.20 or newer'],
  ],
  'no-service': [[{}, "not exactly one ECS service has this pool's tag (see findings)"]],
  'nothing-to-do': [[{}, 'nothing to do']],
};

const examples = Object.entries(REASONS).flatMap(([code, rows]) =>
  rows.map(([fields, sentence]) => ({ reason: { code, ...fields } as Reason, sentence })),
);

it.each(examples)('says "$sentence"', ({ reason, sentence }) => {
  expect(reasonSentence(reason)).toBe(sentence);
});

describe('a pool whose tasks have just left', () => {
  it.each([
    { tasks: 1, unguarded: 0, sentence: '1 task has left; the desired count follows within about 90 s' },
    { tasks: 2, unguarded: 0, sentence: '2 tasks have left; the desired count follows within about 90 s' },
    {
      tasks: 2,
      unguarded: 1,
      sentence: 'scale-in on hold: 2 tasks without a lease, until coderd lists their daemons as offline',
    },
  ])(
    'is told from one with $unguarded tasks without a lease: $sentence',
    ({ tasks, unguarded, sentence }) => {
      expect(reasonIn({ unguarded })({ code: 'holding-for-unguarded', tasks })).toBe(sentence);
    },
  );

  it('has the same words for its other reasons', () => {
    expect(reasonIn({ unguarded: 0 })({ code: 'tasks-left', tasks: 1 })).toBe('1 task has drained');
  });
});

const LISTS = ['jobs', 'daemons', 'previous-jobs', 'services', 'tasks', 'protections'] as const;
type ListDoubt = `${(typeof LISTS)[number]}-${'truncated' | 'forbidden' | 'failed' | 'stale'}`;

/** Each doubt about a pool, as the reason that holds scale-in says it. */
const DOUBTS: Readonly<Record<Exclude<Doubt, ListDoubt>, string>> = {
  'organization-unknown': 'coderd does not list its organization',
  'daemons-empty-while-leased': 'coderd lists no daemons, but tasks hold leases',
  'jobs-empty-while-busy': 'coderd lists no jobs, but daemons are busy',
  'worker-unknown': 'coderd does not list the daemon of a running job',
  'daemons-share-task': 'several daemons may be that of one task',
  'heartbeats-old': 'the heartbeats of its daemons look old (see findings)',
  'clocks-differ': 'clocks differ (see findings)',
  'server-too-old': 'coderd is too old',
  'license-missing':
    'coderd has no license for external daemons, so no daemon could take the place of another',
  'tasks-fewer-than-counted': 'ECS lists fewer tasks than it counts',
  'count-contested': 'others keep changing the desired count (see findings)',
  'override-malformed': 'an override is invalid (see findings)',
  'scale-in-paused': 'scale-in is paused',
};

it.each(Object.entries(DOUBTS) as readonly (readonly [Doubt, string])[])(
  'says of the doubt %s that scale-in is on hold: %s',
  (doubt, phrase) => {
    const sentence = reasonSentence({ code: 'holding-for-doubt', doubts: [doubt] });
    expect(sentence).toBe(`scale-in on hold: ${phrase}`);
  },
);

const NAMES: Readonly<Record<(typeof LISTS)[number], string>> = {
  jobs: 'provisioner jobs',
  daemons: 'provisioner daemons',
  'previous-jobs': 'previous jobs',
  services: 'ECS services',
  tasks: 'ECS tasks',
  protections: 'ECS task protections',
};

it.each(LISTS)('names the list of %s, and what is wrong with it', (list) => {
  const name = NAMES[list];
  const doubts = [`${list}-failed`, `${list}-forbidden`, `${list}-truncated`, `${list}-stale`] as const;
  expect(reasonSentence({ code: 'holding-for-doubt', doubts })).toBe(
    `${list === 'jobs' ? 'launches for jobs and ' : ''}scale-in on hold: could not list ${name}, no permission to list ${name}, the list of ${name} is truncated, the list of ${name} is stale`,
  );
});

const OVERRIDES: readonly (readonly [Override, sentence: string])[] = [
  [{ kind: 'pause', ...NOTE }, 'paused until 20 November 2026 10:00:00 UTC by anna (load test)'],
  [
    { kind: 'pause-scale-in', ...NOTE },
    'scale-in paused until 20 November 2026 10:00:00 UTC by anna (load test)',
  ],
  [{ kind: 'pin', ...NOTE }, 'pinned at 0 tasks until 20 November 2026 10:00:00 UTC by anna (load test)'],
  [
    { kind: 'pin', count: 1, ...NOTE },
    'pinned at 1 task until 20 November 2026 10:00:00 UTC by anna (load test)',
  ],
  [
    { kind: 'floor', count: 2, ...NOTE },
    'at least 2 tasks until 20 November 2026 10:00:00 UTC by anna (load test)',
  ],
];

it.each(OVERRIDES)('says of the override %o: %s', (override, sentence) => {
  expect(overrideText(override)).toBe(sentence);
});
