/** The lines of a plan that are no reason and no finding: pools, jobs of others, unschedulable jobs, the forecast. */
import { describe, expect, it } from 'vitest';
import { spotPartOf } from '../../lambda/decision/model/brands.ts';
import type {
  Action,
  AssignmentRow,
  ForecastRow,
  Plan,
  PoolPlan,
  Served,
  UnservedRow,
} from '../../lambda/decision/model/plan.ts';
import type { NoPromise, PendingJob } from '../../lambda/decision/model/promise.ts';
import {
  ageText,
  dateText,
  few,
  listOf,
  plainLine,
  readingPhrase,
  seconds,
  section,
  some,
  tagText,
  timeText,
} from '../../lambda/explain/format.ts';
import { promiseLines, promiseSentence, startText } from '../../lambda/explain/promise-text.ts';
import { planText, servedText, starterText, unservedSentence } from '../../lambda/explain/text.ts';
import { cutLists } from '../../lambda/explain/truncate-rows.ts';
import { jobId, poolName } from '../support/parts.ts';

const AT = '2026-11-20T09:00:00.000Z';
const LATER = '2026-11-20T09:29:30.000Z';
const cpu = poolName('cpu');
const NONE = { busy: 0, idle: 0, starting: 0, leaving: 0, left: 0, unguarded: 0, failing: 0 };

const aPool = (given: Partial<PoolPlan> = {}): PoolPlan => ({
  ...{ name: cpu, retiring: false, overrides: [], service: null, desired: { from: 1, to: 1 } },
  ...{ daemons: NONE, notCreated: 0, pending: 0, due: 0, floor: { count: 0, from: 'min' } },
  startTime: { from: 'setting', samples: 0, p50Ms: 0, p95Ms: 0 },
  why: [{ code: 'nothing-to-do' }],
  ...given,
});
const aPlan = (given: Partial<Plan> = {}): Plan => ({
  ...{ version: 1, takenAt: AT, pools: [], actions: [], assignment: [], unserved: [] },
  ...{ lookAgainAfterMs: 60_000, forecast: [], findings: [] },
  ...given,
});
const linesOf = (given: Partial<Plan>): readonly string[] => planText(aPlan(given)).split('\n');
const ask = (pool = cpu): Action => ({
  kind: 'ask-to-leave',
  pool,
  task: 't' as never,
  why: 'idle-long-enough',
});
const set = (from: number, to: number): Action => ({
  ...{ kind: 'set-desired', pool: cpu, service: 's' as never, why: 'pending-jobs' },
  ...{ from, to },
});
const protect: Action = { kind: 'protect', pool: cpu, task: 't' as never, why: 'may-hold-a-job' };

describe('the line of a pool', () => {
  it.each<{ pool: Partial<PoolPlan>; actions?: readonly Action[]; line: string }>([
    { pool: {}, line: '    cpu  1  nothing to do' },
    { pool: { desired: { from: 1, to: 3 } }, line: '  + cpu  1 -> 3  nothing to do' },
    { pool: { desired: { from: 3, to: 1 } }, line: '  - cpu  3 -> 1  nothing to do' },
    { pool: { desired: { from: null, to: 1 } }, line: '  ! cpu  ?  nothing to do' },
    { pool: { desired: { from: 1, to: null } }, line: '  ! cpu  ?  nothing to do' },
    { pool: {}, actions: [ask()], line: '  ~ cpu  1  nothing to do' },
    { pool: {}, actions: [ask(spotPartOf(cpu))], line: '  ~ cpu  1  nothing to do' },
    { pool: {}, actions: [ask(poolName('gpu'))], line: '    cpu  1  nothing to do' },
    { pool: {}, actions: [protect], line: '    cpu  1  nothing to do' },
    { pool: { retiring: true }, line: '    cpu  1  retiring; nothing to do' },
    {
      pool: {
        why: [
          { code: 'pending-jobs', jobs: 2 },
          { code: 'capped-at-max', wanted: 3, max: 1 },
        ],
      },
      line: '    cpu  1  2 pending jobs need a new task; needs 3 tasks, limited to 1 by max',
    },
    {
      pool: {
        daemons: { ...NONE, busy: 1, idle: 2, starting: 3, left: 1, failing: 1, unknown: 2 },
        notCreated: 1,
      },
      line: '    cpu  1  nothing to do (1 busy, 2 idle, 2 starting, 1 left, 1 failing, 1 not created yet, 2 of unknown use)',
    },
    {
      pool: { daemons: { ...NONE, leaving: 1, unguarded: 1, starting: 1 }, notCreated: 1 },
      line: '    cpu  1  nothing to do (1 leaving, 1 unguarded, 1 not created yet)',
    },
    {
      pool: { why: [{ code: 'holding-for-unguarded', tasks: 1 }] },
      line: '    cpu  1  1 task has left; the desired count follows within about 90 s',
    },
    {
      pool: {
        parts: [
          { service: null, capacity: 'spot', desired: { from: 1, to: 2 }, why: [{ code: 'retired' }] },
          {
            ...{ service: null, capacity: 'on-demand', desired: { from: 0, to: 0 } },
            why: [
              { code: 'pending-jobs', jobs: 1 },
              { code: 'holding-for-unguarded', tasks: 1 },
            ],
          },
        ],
      },
      line: '    cpu  1  Spot 1 -> 2: no tasks remain; on demand 0: 1 pending job needs a new task, 1 task has left; the desired count follows within about 90 s',
    },
  ])('is "$line"', ({ pool, actions = [], line }) => {
    expect(linesOf({ pools: [aPool(pool)], actions })[2]).toBe(line);
  });

  it('stands in columns', () => {
    const pools = [aPool(), aPool({ name: poolName('builders'), desired: { from: 1, to: 20 } })];
    expect(linesOf({ pools }).slice(0, 4)).toEqual([
      'plan for 20 November 2026 09:00:00 UTC',
      '',
      '    cpu       1        nothing to do',
      '  + builders  1 -> 20  nothing to do',
    ]);
  });
});

it.each([
  { actions: [], line: 'no changes' },
  { actions: [set(1, 2)], line: '1 count to raise, 0 tasks to drain, 0 counts to lower' },
  { actions: [set(2, 1), set(3, 2), ask()], line: '0 counts to raise, 1 task to drain, 2 counts to lower' },
  {
    actions: [ask(), ask(), protect],
    line: '0 counts to raise, 2 tasks to drain, 1 task to protect, 0 counts to lower',
  },
])('ends with what changes: $line', ({ actions, line }) => {
  expect(linesOf({ actions }).slice(-2)).toEqual(['', line]);
});

describe('jobs of others', () => {
  const row = (served: Served, jobs = 2, pool: AssignmentRow['pool'] = null): AssignmentRow => ({
    ...{ organization: 'default', tags: { a: '1' }, for: 'people' },
    ...{ served, jobs, pool },
  });
  const begin = '  ! organization "default", tags a=1: 2 jobs; ';

  it.each([
    { served: 'by-free', says: 'a free daemon takes them' },
    {
      served: 'by-doubtful',
      says: 'the free daemon that fits may have left: coderd has not seen it for a minute, or it does not take them',
    },
    { served: 'by-busy', says: 'they wait for a busy daemon' },
  ] as const)('that are served $served have a line: $says', ({ served, says }) => {
    const lines = linesOf({ assignment: [row(served)] });
    expect(lines.slice(2, -2)).toEqual(['', 'jobs for daemons of others:', `${begin}${says}`]);
  });

  it('are only those without a pool', () => {
    expect(linesOf({ assignment: [row('by-free', 1, cpu)] })).toHaveLength(4);
  });

  it.each<[Served, AssignmentRow['pool'], string]>([
    ['by-free', cpu, 'by a free daemon in "cpu"'],
    ['by-starting', cpu, 'by a starting daemon in "cpu"'],
    ['by-launch', cpu, 'by a new task in "cpu"'],
    ['when-there-is-room', cpu, 'waiting for a launch in "cpu"'],
    ['by-busy', null, 'by a busy daemon of others'],
    ['by-peer', cpu, 'left to another stack'],
    ['by-doubtful', null, 'by a free daemon of others, which may have left'],
  ])('%s are said in an explanation: %s, %s', (served, pool, says) => {
    expect(servedText({ served, pool })).toBe(says);
  });
});

describe('unschedulable jobs', () => {
  const begin =
    'organization "default", tags gpu=yes: 2 jobs (workspace_build, template_version_import), the oldest waits for 30 s. ';
  const row = (given: Partial<UnservedRow> = {}): UnservedRow => ({
    ...{ organization: 'default', tags: { gpu: 'yes' }, jobs: 2, oldest: '2026-11-20T08:59:30.000Z' },
    ...{ failsAt: null, types: ['workspace_build', 'template_version_import'] },
    ...{ why: 'no-pool-has-these-tags', closest: null },
    ...given,
  });
  const near = (given: Partial<NonNullable<UnservedRow['closest']>>) => ({
    closest: { pool: cpu, missing: {}, has: {}, surplus: {}, ...given },
  });

  it.each<{ given: Partial<UnservedRow>; says: string }>([
    { given: {}, says: 'No pool is configured for this organization' },
    {
      given: { failsAt: LATER },
      says: 'No pool is configured for this organization. coderd fails the oldest at 20 November 2026 09:29:30 UTC',
    },
    {
      given: { failsAt: AT },
      says: 'No pool is configured for this organization. coderd is about to fail the oldest',
    },
    {
      given: { why: 'pool-is-retiring', ...near({}) },
      says: 'Pool "cpu" has these tags but is retiring: give the tags to another pool',
    },
    {
      given: { why: 'scope-is-user', tags: { gpu: 'yes', owner: 'u-1' }, ...near({}) },
      says: 'They have scope=user, and no pool has this scope and owner. Add a pool with the token of this user and tags: { scope: user, owner: u-1 }, or remove scope from the tags of the template',
    },
    { given: near({ missing: { gpu: 'yes' } }), says: 'The closest pool is "cpu": it lacks gpu=yes' },
    {
      given: near({ missing: { gpu: 'yes' }, has: { gpu: 'no' } }),
      says: 'The closest pool is "cpu": it lacks gpu=yes (has gpu=no)',
    },
    {
      given: near({ missing: { gpu: 'yes' }, surplus: { os: 'linux', GPU: 'yes' } }),
      says: 'The closest pool is "cpu": it lacks gpu=yes. Its tag "GPU" differs in upper and lower case only',
    },
    {
      given: near({ surplus: { os: 'linux' } }),
      says: 'The closest pool is "cpu": it has os=linux, but untagged jobs only run on untagged daemons',
    },
  ])('say: $says', ({ given, says }) => {
    const start = given.tags === undefined ? begin : begin.replace('gpu=yes', tagText(given.tags));
    expect(unservedSentence(row(given), AT)).toBe(`${start}${says}`);
    expect(linesOf({ unserved: [row(given)] }).slice(2, -2)).toEqual([
      '',
      'unschedulable jobs:',
      `  ! ${start}${says}`,
    ]);
  });
});

describe('the forecast', () => {
  const row: ForecastRow = {
    organization: 'default',
    tags: {},
    kind: 'autostart',
    transitions: 1,
    at: LATER,
    pool: cpu,
  };

  it.each<{ given: Partial<ForecastRow>; says: string }>([
    { given: {}, says: '1 autostart at 20 November 2026 09:29:30 UTC; pool "cpu" provides a daemon for it' },
    {
      given: { at: AT },
      says: '1 autostart at 20 November 2026 09:00:00 UTC; pool "cpu" provides a daemon for it',
    },
    {
      given: { at: '2026-11-20T08:59:59.000Z', pool: null, transitions: 2 },
      says: '2 autostarts from 20 November 2026 08:59:59 UTC on, overdue; no pool starts a daemon for them now',
    },
  ])('says: $says', ({ given, says }) => {
    expect(linesOf({ forecast: [{ ...row, ...given }] }).slice(2, -2)).toEqual([
      '',
      'forecast of what coderd will do within the hour:',
      `    organization "default", tags (untagged): ${says}`,
    ]);
  });

  it('says which pool starts', () => {
    expect(starterText({ pool: null, transitions: 1 })).toBe('no pool starts a daemon for it now');
  });
});

it('has a section for each kind of line, in a fixed order', () => {
  const pin = { kind: 'pin', count: 2, until: LATER, by: 'anna', why: 'test' } as const;
  const text = linesOf({
    pools: [aPool({ overrides: [pin] })],
    findings: [{ code: 'server-too-old', version: '1', oldest: '2' }],
  });
  expect(text.slice(2)).toEqual([
    '    cpu  1  nothing to do',
    '',
    'overrides:',
    '    pool "cpu": pinned at 2 tasks until 20 November 2026 09:29:30 UTC by anna (test)',
    '',
    'findings:',
    '  ! coderd 1 is too old: the autoscaler needs the provisioner jobs API of 2 or newer. It changes nothing until you upgrade coderd',
    '',
    'no changes',
  ]);
});

it('shortens reasons, findings and unschedulable jobs, each to its own length', () => {
  const unserved: UnservedRow = {
    ...{ organization: 'o', tags: {}, jobs: 1, oldest: AT, failsAt: null, types: [] },
    ...{ why: 'no-pool-in-this-organization', closest: null },
  };
  const plan = aPlan({ pools: [aPool()], unserved: [unserved], findings: [{ code: 'version-unknown' }] });
  const lengths: number[] = [];
  planText(plan, (text, most) => {
    lengths.push(most);
    return text;
  });
  expect(lengths).toEqual([20, 40, 40]);
});

describe('a promised start', () => {
  const at = (s: number): string => new Date(Date.parse(AT) + s * 1000).toISOString();
  const job = (given: Partial<PendingJob> = {}): PendingJob => ({
    ...{ id: jobId('1a2b3c4d-0000'), organization: 'default', tags: {}, type: 'workspace_build' },
    ...{ workspace: null, createdAt: AT, failsAt: null, pool: cpu, runningBuilds: 0, why: null },
    startsAt: { p50: at(40), p95: at(95) },
    ...given,
  });
  const WHY: Readonly<Record<NoPromise, string>> = {
    unschedulable: 'no pool and no daemon can run it',
    'left-to-peer': 'another stack launches for it',
    'pool-held': 'a person has paused or pinned its pool',
    'readings-in-doubt': 'a list is incomplete or contradicts another one (see the findings)',
    'license-missing': 'coderd has no license for external daemons, so no new daemon can connect',
    'starts-failing': 'tasks of its pool do not start as expected',
    'daemon-may-have-left':
      'the free daemon that fits may have left: coderd has not seen it for a minute, or it does not take the job',
    'build-length-unknown': 'it waits for builds, and finished builds do not show how long these take',
    'no-room': 'it waits for room within the limits',
    'fails-first': 'no daemon is free within 30 minutes, and coderd then fails jobs that wait',
  };

  it.each(Object.entries(WHY) as readonly (readonly [NoPromise, string])[])(
    'is unknown for %s: %s',
    (why, says) => {
      expect(startText(job({ startsAt: null, why }), AT)).toBe(`start unknown: ${says}`);
    },
  );

  it.each<{ given: Partial<PendingJob>; says: string }>([
    { given: { startsAt: null, why: null }, says: 'start unknown: no reason is known' },
    {
      given: { leftTo: { peer: 'eu', until: LATER } },
      says: 'start unknown: it is left to stack eu until 20 November 2026 09:29:30 UTC',
    },
    { given: { isPolled: true }, says: 'an idle daemon takes it within 30 s' },
    { given: { startsAt: { p50: at(1), p95: at(3) } }, says: 'starts now' },
    {
      given: { startsAt: { p50: at(1), p95: at(4) } },
      says: 'starts in about 1 s, in most cases within 4 s',
    },
    {
      given: { runningBuilds: 1 },
      says: 'starts in about 40 s, in most cases within 95 s, depending on 1 running build',
    },
    { given: { failsAt: at(95) }, says: 'starts in about 40 s, in most cases within 95 s' },
    {
      given: { failsAt: at(94), runningBuilds: 2 },
      says: 'starts in about 40 s, in most cases within 95 s, depending on 2 running builds, unless coderd fails it first, in 94 s',
    },
  ])('is said as "$says"', ({ given, says }) => {
    expect(startText(job(given), AT)).toBe(says);
  });

  it('names the workspace, or the organization of a job without one', () => {
    expect(promiseSentence(job({ workspace: 'alice/dev', tags: { a: '1' } }), AT)).toMatch(
      /^job 1a2b3c4d of alice\/dev \(tags a=1\): starts in/,
    );
    expect(promiseSentence(job(), AT)).toMatch(
      /^job 1a2b3c4d of organization "default" \(untagged\): starts in/,
    );
  });

  it('is one line for jobs that wait for the same reason, with the same tags and organization', () => {
    const why = { startsAt: null, why: 'no-room' } as const;
    const pendingJobs = [
      job(why),
      job(why),
      job({ ...why, tags: { a: '1' } }),
      job({ ...why, organization: 'data' }),
    ];
    const lines = promiseLines({ pendingJobs, pendingJobsLeftOut: 0 }, { takenAt: AT, most: 20 });
    const says = 'start unknown: it waits for room within the limits';
    expect(lines).toEqual([
      `2 jobs of organization "default" (untagged): ${says}`,
      `job 1a2b3c4d of organization "default" (tags a=1): ${says}`,
      `job 1a2b3c4d of organization "data" (untagged): ${says}`,
    ]);
  });

  it('is told for the first 20 jobs of a plan', () => {
    const pendingJobs = Array.from({ length: 22 }, (_, index) => job({ id: jobId(`job-${index}`) }));
    const lines = planText({ ...aPlan(), pendingJobs }).split('\n');
    expect(lines[3]).toBe('when pending jobs start, in the order of the queue:');
    expect(lines.slice(4, -2)).toHaveLength(21);
    expect(lines.at(-3)).toBe('    and 2 jobs more; --json has them');
  });
});

describe('the format', () => {
  it.each([
    [ageText(-5), '0 s'],
    [ageText(119.4), '119 s'],
    [ageText(120), '2 min'],
    [ageText(7199), '120 min'],
    [ageText(7200), '2 h'],
    [ageText(9001), '3 h'],
    [seconds(165_400), '165 s'],
    [timeText('2026-11-20T09:00:00.999Z'), '20 November 2026 09:00:00 UTC'],
    [timeText('noon'), 'noon'],
    [dateText('2026-11-20T23:59:59Z'), '20 November 2026'],
    [dateText('noon'), 'noon'],
    [some(0, 'job'), '0 jobs'],
    [some(1, 'job'), '1 job'],
    [few([]), ''],
    [few(['a', 'b', 'c']), 'a, b, c'],
    [few(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more'],
    [tagText({}), '(untagged)'],
    [tagText({ b: '2', a: '1', c: '' }), 'a=1, b=2, c='],
    [tagText({ a: '1\n' }), 'a=1\\u000a'],
    [listOf('previous-jobs-failed'), 'previous jobs'],
    [listOf('services-stale'), 'services'],
    [listOf('another'), 'another'],
    [readingPhrase('secrets-failed'), 'could not list secrets'],
    [readingPhrase('workspaces-forbidden'), 'no permission to list workspaces'],
    [readingPhrase('templates-truncated'), 'the list of templates is truncated'],
    [readingPhrase('another'), 'the list of another is unknown'],
    [section('t', []).join('|'), ''],
    [section('t', ['a', 'b']).join('|'), '|t:|  a|  b'],
    [section('t', ['a'], '- ').join('|'), '|t:|- a'],
    [plainLine('a\u001b[2J#[x]'), 'a\\u001b[2J#[x]'],
    [plainLine('##[x'), '\\u0023#[x'],
    [plainLine(' ::x'), ' \\u003a:x'],
    [plainLine('a ::x'), 'a ::x'],
    [plainLine('\u{e0001}'), '\\udb40\\udc01'],
  ])('writes %j', (text, expected) => {
    expect(text).toBe(expected);
  });

  it('cuts each list to its size, and counts what is left out', () => {
    const lists = { a: ['x', 'y', 'z'], b: ['x'], c: ['x'] };
    expect(cutLists(lists, { a: 8, b: 4, c: 3 })).toEqual({
      kept: { a: ['x', 'y'], b: ['x'], c: [] },
      leftOut: { a: 1, c: 1 },
    });
  });
});
