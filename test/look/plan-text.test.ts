/** How overrides and retiring pools are told: what is in force, who said so, and what to do. */
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../lambda/adapters/snapshot/schema.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { deliberate } from '../../lambda/decision/decide.ts';
import { explainPool } from '../../lambda/explain/explain.ts';
import { sentenceOf } from '../../lambda/explain/finding-text.ts';
import { planText } from '../../lambda/explain/text.ts';
import { poolName } from '../support/parts.ts';
import { draw, type Picture } from '../support/picture.ts';

const until = '2026-11-20T10:00:00Z';
const pin = (count: number) => ({
  pin: `${count}`,
  'pin-until': until,
  'pin-by': 'anna',
  'pin-why': 'load test',
});

function textsOf(picture: Picture): { readonly plan: string; readonly explained: string } {
  const { snapshot: document, config: settings } = draw(picture);
  const snapshot = parseSnapshot(document);
  const deliberation = deliberate(snapshot, checkConfig(settings).config);
  return { plan: planText(deliberation.plan), explained: explainPool('cpu', deliberation, snapshot) ?? '' };
}

it('a plan tells overrides, who leaves for good, and which jobs nobody else can run', () => {
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
    "plan for 2026-11-20T09:00:00.000Z

        cpu   2       3 pending jobs need a new task; wants 5, pinned at 2 until 2026-11-20T10:00:00.000Z by anna (load test) (2 busy)
        data  0       paused until 2026-11-20T10:00:00.000Z by somebody (no reason given): nothing is done but to protect tasks that have no guard
        free  1       scale-in paused until 2026-11-20T10:00:00.000Z by somebody (no reason given) (1 idle)
        gone  0       retiring; no task left; remove the pool from the configuration
        gpu   0       not scaled in: an override can not be read
      + more  0 -> 2  an override keeps 2
      ~ old   1       retiring; 1 task to leave for good; asking it to leave (1 busy)

    overrides:
        pool "cpu": pinned at 2 tasks until 2026-11-20T10:00:00.000Z by anna (load test)
        pool "data": paused until 2026-11-20T10:00:00.000Z by somebody (no reason given)
        pool "free": scale-in paused until 2026-11-20T10:00:00.000Z by somebody (no reason given)
        pool "more": kept at 2 tasks or more until 2026-11-20T10:00:00.000Z by somebody (no reason given)

    jobs that nobody can run:
      ! organization "default", tags os=bsd: 1 job (workspace_build), the oldest for 30 s, failed by coderd at 2026-11-20T09:29:30.000Z; pool "old" has these tags and is retiring: give them to another pool

    findings:
      ! pool "gpu": the tag coder-autoscaler:floor of its service is "two", and not a number of tasks; the pool is not scaled in until that is written again (\`autoscaler pin\`, \`pause\`) or taken away (\`unpin\`, \`resume\`)

    1 count to raise, 1 task to ask to leave, 0 counts to lower"
  `);
});

describe('what waits since all pools that could be woken are paused or pinned', () => {
  const paused = { pause: 'all', 'pause-until': until, 'pause-by': 'anna', 'pause-why': 'load test' };
  const workspaces = [{ stopsInS: -600, count: 2 }, { stopsInS: 1800 }];

  it('is told with who wants it so, and with what ends it', () => {
    const { plan, explained } = textsOf({ pools: { cpu: { overrides: paused } }, workspaces });
    expect(plan).toMatchInlineSnapshot(`
      "plan for 2026-11-20T09:00:00.000Z

          cpu  0  paused until 2026-11-20T10:00:00.000Z by anna (load test): nothing is done but to protect tasks that have no guard; not woken for 2 autostops from 2026-11-20T08:50:00.000Z on (see findings)

      overrides:
          pool "cpu": paused until 2026-11-20T10:00:00.000Z by anna (load test)

      what coderd will do by itself within the hour:
          organization "default", tags (untagged): 2 autostops from 2026-11-20T08:50:00.000Z on, overdue; no pool is woken for them now
          organization "default", tags (untagged): 1 autostop at 2026-11-20T09:30:00.000Z; no pool is woken for it now

      findings:
        ! organization "default", tags (untagged): 2 autostops from 2026-11-20T08:50:00.000Z on wait, since pool "cpu" is paused until 2026-11-20T10:00:00.000Z by anna (load test); \`autoscaler resume cpu\` lets coderd do them

      no changes"
    `);
    expect(explained).toContain(
      '(untagged): 2 autostops from 2026-11-20T08:50:00.000Z on and 1 autostop at 2026-11-20T09:30:00.000Z -> nobody is woken for it',
    );
    expect(explained).not.toContain('nothing is known that this pool would have to be awake for');
  });

  it('is told of each of several pools', () => {
    const { plan } = textsOf({
      pools: {
        cpu: { tags: { os: 'linux' }, overrides: paused },
        gpu: { tags: { os: 'linux', gpu: '1' }, overrides: pin(0) },
      },
      workspaces: [{ tags: { os: 'linux' }, startsInS: -60 }],
    });
    expect(plan).toContain(
      '1 autostart at 2026-11-20T08:59:00.000Z waits, since pool "cpu" is paused until 2026-11-20T10:00:00.000Z by anna (load test) and pool "gpu" is pinned at 0 tasks until 2026-11-20T10:00:00.000Z by anna (load test); `autoscaler resume cpu` or `autoscaler unpin gpu` lets coderd do it',
    );
  });

  it.each([
    { pool: { overrides: paused, tasks: 'I1m' }, expected: 'a daemon is there for it' },
    { pool: { overrides: pin(1) }, expected: 'a daemon that is kept anyway is to be there for it' },
  ])('is not what a daemon does all the same: $pool', ({ pool, expected }) => {
    expect(textsOf({ pools: { cpu: pool }, workspaces: [{ stopsInS: -30 }] }).explained).toContain(
      `(untagged): 1 autostop at 2026-11-20T08:59:30.000Z -> ${expected}`,
    );
  });
});

describe('the story of a pool', () => {
  it('says what a pin does', () => {
    expect(
      textsOf({ pools: { cpu: { tasks: 'I20m', overrides: pin(0) } }, workspaces: [] }).explained,
    ).toMatchInlineSnapshot(`
      "pool "cpu" of organization "default", tags (untagged), at 2026-11-20T09:00:00.000Z

      set by people:
        pinned at 0 tasks until 2026-11-20T10:00:00.000Z by anna (load test)

      demand:
        no pending job that this pool can run

      what coderd will do by itself:
        nothing is known that this pool would have to be awake for
        it is not woken while it is retiring, paused or pinned
        it starts 105 s before an autostart is due; stops and deletions share a start, up to 10 min late (wake.maxDelay)

      supply:
        desired count 1, 1 task
        22aa29dda99b38a2838cbe86c359d785  working    daemon idle for 20 min

      what it needs:
        0 in use + 0 jobs for free daemons + 0 for starting ones + 0 for new tasks = 0
        floors: min 0 (pin), warm 0, wake 0, ready for what is due 0, stock 0 -> 0 by pin
        a new task has its daemon after 90 s (startTime of the configuration; 0 starts seen, too few to learn it)
        bounds: wants 0, max 0 (pin), limits.maxTasks -> 1
        there are 1: 1 working, 0 starting, 0 unguarded; beside them 0 leaving, 0 left

      who leaves:
        22aa29dda99b38a2838cbe86c359d785  is asked: idle-long-enough

      decided:
        desired count stays 1
        because: 1 task above the pin. Running builds finish; idle daemons drain after idleTimeout
        because: draining 1 idle daemon"
    `);
  });

  it.each([
    {
      pool: { retiring: true, tasks: 'L L P' },
      expected: ['because: waits for 2 that are leaving, 1 that is starting\n'],
    },
    {
      pool: { retiring: true, tasks: 'L U1m P P' },
      expected: [
        'waits for 1 that is leaving, 2 that are starting, 1 without a lease, which nobody can ask: once no build runs in the pool it can be removed',
      ],
    },
    {
      pool: { tasks: 'B B', overrides: pin(1) },
      expected: ['1 task above the pin. Running builds finish'],
    },
    { pool: { retiring: true }, expected: ['retiring: everyone is asked to leave', 'max 0 (retiring)'] },
    {
      pool: { overrides: { pause: 'all', 'pause-until': until } },
      expected: ['paused until', 'max 0 (paused)'],
    },
    { pool: { overrides: { floor: '2', 'floor-until': until } }, expected: ['min 2 (override)', 'max 20,'] },
  ])('says what $pool does', ({ pool, expected }) => {
    const { explained } = textsOf({ pools: { cpu: pool } });
    for (const part of expected) expect(explained).toContain(part);
  });
});

it.each([
  { tag: 'coder-autoscaler:pin-until', seen: '', problem: 'no-end', expected: 'without the tag' },
  {
    tag: 'coder-autoscaler:pin-until',
    seen: 'noon',
    problem: 'unreadable-end',
    expected: 'is "noon", and not a time',
  },
  {
    tag: 'coder-autoscaler:pause',
    seen: 'on',
    problem: 'unknown-value',
    expected: 'not "all" or "scale-in"',
  },
  { tag: 'coder-autoscaler:paused', seen: 'all', problem: 'unknown-tag', expected: 'means nothing here' },
  { tag: 'coder-autoscaler:floor', seen: 'two', problem: 'unknown-value', expected: 'not a number of tasks' },
] as const)('$tag of "$seen" is told with what would do', ({ expected, ...malformed }) => {
  const text = sentenceOf({ code: 'override-malformed', pool: poolName('cpu'), ...malformed });
  expect(text).toContain(expected);
  expect(text).toContain(malformed.tag);
});

it('a token that expires is told with what to do', () => {
  expect(sentenceOf({ code: 'token-expires', at: until })).toMatch(
    /expires at 2026-11-20T10:00:00Z.*make a new one/,
  );
});

it('a service of no pool is told to be left over or of somebody else', () => {
  const left = { code: 'service-without-pool', pool: 'old', service: 'Stack-old' } as const;
  expect(sentenceOf({ ...left, drains: false })).toMatch(
    /another deployment owns it, or the pool was removed.*retiring: true.*may stop builds/,
  );
  expect(sentenceOf({ ...left, drains: true })).toMatch(/Its tasks drain, and builds finish\. Delete/);
});
