/** Heartbeats that look old: when they are a doubt, and what launches and drains meanwhile. */
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../../lambda/adapters/snapshot-schema.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { ago, MINUTE, reading, SECOND } from '../../support/parts.ts';
import { type Drawn, draw } from '../../support/picture.ts';
import {
  actionsOf,
  all,
  type Change,
  daemonIs,
  edit,
  inWords,
  iso,
  listIs,
  organizationIn,
  planOf,
  poolOf,
  taskIs,
} from '../../support/planned.ts';
import { buildAt, doneBy } from '../../support/stocked.ts';
import { table } from '../../support/table.ts';
import { pictureOf } from '../../support/world-in-words.ts';

/** The daemons in their order were last seen so many seconds ago. */
const seen =
  (...seconds: readonly number[]): Change =>
  (snapshot) => {
    for (const [index, ago] of seconds.entries())
      edit(organizationIn(snapshot).daemons.items, index, { last_seen_at: iso(ago) });
  };

/** Its heartbeat is its registration. */
const registered = (index: number, secondsAgo: number): Change =>
  daemonIs(index, { created_at: iso(secondsAgo), last_seen_at: iso(secondsAgo) });

const failedStarts =
  (count: number): Change =>
  ({ ecs }) => {
    for (let index = 0; index < count; index++)
      ecs.tasks.items.push({
        ...{ taskArn: `failed-${index}`, group: 'service:Stack-cpu', desiredStatus: 'STOPPED' },
        ...{ lastStatus: 'STOPPED', stopCode: 'TaskFailedToStart', stoppedAt: iso(60), containers: [] },
      });
  };

const OLD = 'heartbeats-old';
const MINUTES = 60;

type Row = {
  readonly world: string;
  readonly change: Change;
  readonly found: string;
  readonly because: string;
};

const found = table<Row>`
  world                          | change                                                         | found               | because
  cpu I20m I20m I20m I20m        | ${seen(151, 151)}                                              | ${OLD}              | half of the daemons look offline
  cpu I20m I20m I20m I20m I20m   | ${seen(151, 151)}                                              | tasks-without-daemon | less than half do
  cpu I20m                       | ${seen(151)}                                                   | tasks-without-daemon | one daemon may have gone
  cpu I20m I20m                  | ${seen(91, 151)}                                               | ${OLD}              | the next heartbeat of one is overdue
  cpu I20m I20m                  | ${seen(91, 150)}                                               | heartbeats-late     | the next heartbeats may come
  cpu I20m I20m                  | ${seen(90, 91)}                                                | nothing             | one late heartbeat is none
  cpu B B                        | ${seen(151, 151)}                                              | ${OLD}              | daemons with jobs count too
  cpu I20m I20m I20m             | ${seen(151, 91, 91)}                                           | ${OLD}              | the doubt tells of late ones too
  cpu L L L I20m I20m            | ${seen(20, 20, 20, 151, 151)}                                   | ${OLD}              | tasks that drain do not count
  cpu X X I20m I20m              | ${seen(600, 600, 20, 20)}                                      | nothing             | they have left
  cpu I20m I20m I20m I20m        | ${seen(901, 901)}                                              | tasks-without-daemon | the heartbeats of others come for 15 minutes
  cpu I20m I20m I20m I20m        | ${seen(900, 900)}                                              | ${OLD}              | the heartbeats of others come for less
  cpu I20m I20m I20m             | ${all(seen(901, 901), registered(2, 20))}                      | ${OLD}              | the other has only registered
  cpu I20m I20m; stranger        | ${seen(901, 901)}                                              | tasks-without-daemon | those of a daemon outside the pools come
  cpu Z I20m                     | ${seen(151)}                                                   | tasks-without-daemon | the heartbeats of the other came for an hour longer
  cpu Z Z I20m, ageMinutes 61    | ${registered(0, 20)}                                           | ${OLD}              | all rows may be too old to be listed
  cpu Z Z I20m, ageMinutes 59    | ${registered(0, 20)}                                           | tasks-without-daemon | younger rows are listed, so a key was deleted
  cpu Z Z                        | ${() => {}}                                                    | daemons-empty-while-leased+tasks-without-daemon | that is another doubt
  cpu I20m I20m                  | ${all(seen(151, 151), failedStarts(2))}                        | ${OLD}+starts-failing | two failed starts may be chance
  cpu I20m I20m                  | ${all(seen(151, 151), failedStarts(3))}                        | starts-failing+tasks-without-daemon | the daemons do not come either
  cpu I20m I20m; job 60s         | ${seen(151, 151)}                                              | ${OLD}              | a free daemon may take the job yet
  cpu I20m I20m; job 61s         | ${seen(151, 151)}                                              | tasks-without-daemon | a free daemon would have taken the job
  cpu B B; job 61s               | ${seen(151, 151)}                                              | ${OLD}              | none of them is free for the job
  cpu I20m I20m [gpu]; job 61s   | ${seen(151, 151)}                                              | ${OLD}              | they do not run this job
  cpu I20m I20m                  | ${all(seen(151, 151), listIs('daemons', { status: 'truncated' }))} | daemons-truncated | such a list proves nothing
  cpu I20m I20m; gpu I20m, organization other | ${seen(151, 151)}                                 | ${OLD}              | another organization has other daemons
`;

const codes = (plan: ReturnType<typeof planOf>): string =>
  plan.findings.map(({ code }) => code).join('+') || 'nothing';

describe('the findings about heartbeats', () => {
  it.each(found)('are $found for $world: $because', ({ world, change, found: expected }) => {
    const plan = planOf(world, change);
    expect(codes(plan)).toBe(expected);
    const isHeld = JSON.stringify(poolOf(plan, 'cpu').why).includes(OLD);
    expect(isHeld).toBe(expected.includes(OLD));
  });

  it('say how many daemons look offline, and when coderd saw them', () => {
    const plan = planOf('cpu I20m I20m Z; gpu I20m [gpu]', seen(151, 300, 20));
    expect(plan.findings).toEqual([
      {
        ...{ code: OLD, organization: 'default', daemons: 4, unseen: 3, pools: ['cpu'] },
        seen: { from: iso(300), to: iso(151) },
      },
    ]);
  });
});

type Act = {
  readonly world: string;
  readonly change: Change;
  readonly actions: string;
  readonly because: string;
};

const acts = table<Act>`
  world                            | change                      | actions                      | because
  cpu I20m I20m, warm 2            | ${seen(151, 151)}           | nothing                      | they may live
  cpu I20m I20m, warm 2; job       | ${seen(151, 151)}           | cpu 2->3 pending-jobs        | a job does not count on them
  cpu I20m I20m, max 2; job        | ${seen(151, 151)}           | nothing                      | max bounds them and new tasks together
  cpu B I20m, warm 2               | ${seen(151, 151)}           | nothing                      | no task launches for the stock
  cpu I20m I20m I20m I20m          | ${seen(151, 151)}           | nothing                      | no daemon drains, however idle
  cpu I20m I20m; gpu I20m [gpu]    | ${seen(151, 151)}           | ask gpu#0                    | the heartbeats of the other pool are right
  cpu I20m I20m; gpu [gpu], warm 1 | ${seen(151, 151)}           | gpu 0->1 floor               | the other pool has no such daemon
  cpu I20m I20m I20m, warm 3       | ${seen(91)}                 | nothing                      | a late heartbeat launches nothing
  cpu I20m I20m I20m, warm 3       | ${seen(151)}                | cpu 3->4 floor               | this is no late heartbeat
  cpu I20m, warm 1; job            | ${seen(91)}                 | cpu 1->2 pending-jobs        | a job does not count on it
  cpu I30m I20m I20m, warm 2       | ${seen(20, 20, 91)}         | ask cpu#2                    | the late one drains first
  cpu I20m I20m; 2 starts in 200s  | ${seen(91, 91)}             | nothing                      | both stay for the starts
`;

describe('what launches and drains', () => {
  it.each(acts)('is $actions for $world: $because', ({ world, change, actions }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(actions);
  });

  it('shows unsure daemons as of unknown use', () => {
    expect(poolOf(planOf('cpu I20m I20m B', seen(151, 200)), 'cpu').daemons).toMatchObject({
      ...{ idle: 0, busy: 1, unknown: 2 },
    });
  });
});

describe('a daemon whose heartbeat is late', () => {
  const late = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    coder: {
      ...snapshot.coder,
      organizations: snapshot.coder.organizations.map((organization) => ({
        ...organization,
        daemons: reading(
          organization.daemons.items.map((row) => ({ ...row, last_seen_at: ago(91 * SECOND) })),
        ),
      })),
    },
  });
  const idle = (...minutes: readonly number[]) => ({ cpu: { idle: minutes.map((each) => each * MINUTE) } });

  it.each([
    {
      rule: { free: 2, spareMs: 0 },
      pools: idle(1, 2),
      because: 'it counts among the free ones that are kept',
    },
    { rule: { free: 0, spareMs: 10 * MINUTE }, pools: idle(1), because: 'it may be spare' },
    { isCold: true, pools: idle(6), because: 'the record is too short to drain it' },
  ])('launches and drains nothing: $because', ({ because: _, ...world }) => {
    expect(doneBy({ recent: [buildAt(ago(MINUTE))], ...world, change: late })).toEqual([]);
  });

  it('serves no job with the tags of a wrong key', () => {
    const serves = (secondsAgo: number) =>
      planOf('cpu I20m [gpu], ageMinutes 14, daemons [tpu]; 2 jobs [tpu]', seen(secondsAgo)).assignment.map(
        ({ served, jobs }) => `${jobs} ${served}`,
      );
    expect(serves(90)).toEqual(['1 by-free', '1 by-busy']);
    expect(serves(91)).toEqual([]);
  });
});

const FLOOR = 'cpu 2->3 floor';
const min2 = 'cpu I20m I20m, min 2';
const at = (index: number, secondsAgo: number): Change => taskIs(index, { createdAt: iso(secondsAgo) });

const hourly = table<Act>`
  world                                        | change                                                        | actions   | because
  ${min2}                                      | ${seen(15 * MINUTES, 899)}                                    | ${FLOOR}  | the floor may have no daemon at all
  ${min2}                                      | ${seen(899, 899)}                                             | nothing   | they are unseen for less than 15 minutes
  cpu I20m I20m, warm 2                        | ${seen(900, 900)}                                             | ${FLOOR}  | the stock may have no daemon at all
  cpu I20m I20m                                | ${seen(900, 900)}                                             | nothing   | the pool has no floor
  ${min2}                                      | ${all(seen(900, 900), listIs('jobs', { takenAt: iso(-61) }))} | nothing   | clocks differ, so only jobs launch tasks
  ${min2}                                      | ${all(seen(900, 900), at(0, 899))}                            | nothing   | one was launched since then
  ${min2}                                      | ${all(seen(900, 900), at(0, 901))}                            | ${FLOOR}  | it was launched before
  ${min2}                                      | ${all(seen(7200, 7200), at(0, 3599))}                         | nothing   | one was launched within the hour
  ${min2}                                      | ${all(seen(7200, 7200), at(0, 3601))}                         | ${FLOOR}  | an hour is over
  cpu I20m I20m I20m, min 3                    | ${all(seen(900, 900), registered(2, 20))}                     | nothing   | coderd sees a daemon of the pool
  cpu I20m I20m P, min 3                       | ${seen(900, 900)}                                             | nothing   | one is starting
  cpu I20m I20m, min 9                         | ${seen(400, 400)}                                             | ${FLOOR}  | one for a floor, not seven
  cpu I20m I20m; start in 60s                  | ${seen(400, 400)}                                             | ${FLOOR}  | coderd sees no daemon for the autostart
  cpu I20m I20m; 5 starts in 60s               | ${seen(400, 400)}                                             | ${FLOOR}  | one daemon opens the gate for all
  cpu I20m I20m; start in 60s                  | ${all(seen(200, 200), at(0, 3599))}                           | nothing   | nothing shows that it was launched before
  cpu I20m I20m; start in 60s                  | ${all(seen(300, 300), at(0, 3599))}                           | ${FLOOR}  | it was launched before
  cpu I20m I20m, min 2; start in 3500s         | ${seen(900, 900)}                                             | nothing   | the task of this hour is for the autostart
  cpu I20m I20m, min 2; start in 3700s         | ${seen(900, 900)}                                             | ${FLOOR}  | the autostart has one in the next hour
  cpu I20m, min 3                              | ${seen(91)}                                                   | cpu 1->3 floor | a late heartbeat does not hold a floor
  cpu I20m; start in 60s                       | ${seen(91)}                                                   | cpu 1->2 prewarm | coderd may see no daemon
  cpu I20m; start in 60s                       | ${all(seen(91), at(0, 3599))}                                 | nothing   | its heartbeat may come, and one was launched
`;

describe('a floor or an autostart, while coderd sees no daemon of the pool', () => {
  it.each(hourly)('launches $actions for $world: $because', ({ world, change, actions }) => {
    expect(inWords(actionsOf(planOf(world, change)))).toBe(actions);
  });
});

it('does not say that a daemon will drain soon', () => {
  const { why } = poolOf(planOf('cpu I20m I20m I9m', seen(200, 200)), 'cpu');
  expect(why.map(({ code }) => code)).toEqual(['holding-for-doubt']);
});

it('says why one task launches, beside the doubt', () => {
  const { why } = poolOf(planOf(min2, seen(900, 900)), 'cpu');
  expect(why.map(({ code }) => code)).toEqual(['floor', 'launching-to-be-seen', 'holding-for-doubt']);
  const more = poolOf(planOf('cpu I20m I20m, min 4', seen(900, 900)), 'cpu');
  expect(more.why.map(({ code }) => code)).toEqual(['floor', 'launching-to-be-seen', 'holding-for-doubt']);
});

describe('what a look remembers of heartbeats', () => {
  const decideOf = (world: string, change: Change, heartbeats?: object) => {
    const { snapshot, config }: Drawn = draw(pictureOf(world));
    change(snapshot, config);
    const remembered = heartbeats && {
      remembered: {
        mismatches: {},
        refused: [],
        heartbeats: [{ organizationId: 'org-default', ...heartbeats }],
      },
    };
    const { plan, heartbeats: next } = deliberate(
      parseSnapshot({ ...snapshot, ...remembered }),
      checkConfig(config).config,
    );
    const [{ organizationId, ...rest } = { organizationId: '' }] = next;
    return { codes: codes(plan), organizationId, next: JSON.parse(JSON.stringify(rest)) };
  };
  const ms = (secondsAgo: number): number => Date.parse(iso(secondsAgo));
  const half = 'cpu I20m I20m I20m I20m I20m';

  it.each([
    { oldAt: 180, expected: OLD, because: 'the others may be about to come' },
    { oldAt: 181, expected: 'tasks-without-daemon', because: 'the others would have come' },
    { oldAt: -1, expected: 'tasks-without-daemon', because: 'no look was in the future' },
  ])('holds two of five if a look doubted them $oldAt s ago: $expected, since $because', (row) => {
    const after = decideOf(half, seen(600, 600), { oldAt: iso(row.oldAt) });
    expect(after.codes).toBe(row.expected);
    expect(after.next).toEqual(row.expected === OLD ? { oldAt: ms(row.oldAt) } : {});
  });

  it('holds tasks without rows while looks doubt them', () => {
    const after = decideOf('cpu Z Z', () => {}, { oldAt: iso(20) });
    expect(after.codes).toContain(OLD);
    expect(after.next).toEqual({ oldAt: ms(0) });
  });

  it('is no doubt while all heartbeats may come yet', () => {
    expect(decideOf('cpu I20m I20m', seen(91, 150)).next).toEqual({ late: { since: ms(0), at: ms(0) } });
  });

  it('is the time of the doubt', () => {
    const { organizationId, next } = decideOf('cpu I20m I20m', seen(151, 151));
    expect(organizationId).toBe('org-default');
    expect(next).toEqual({ oldAt: ms(0) });
  });

  it('is kept while the daemons cannot be read', () => {
    const unread = listIs('daemons', { status: 'failed', error: 'seen', items: [] });
    expect(decideOf(half, unread, { oldAt: iso(20) }).next).toEqual({ oldAt: ms(20) });
  });

  it.each([
    { late: undefined, next: { since: 0, at: 0 }, found: 'nothing', because: 'one may be dying' },
    {
      late: { since: 119, at: 20 },
      next: { since: 119, at: 0 },
      found: 'nothing',
      because: 'one may be dying',
    },
    {
      late: { since: 120, at: 20 },
      next: { since: 120, at: 0 },
      found: 'heartbeats-late',
      because: 'it comes again',
    },
    {
      late: { since: 300, at: 181 },
      next: { since: 0, at: 0 },
      found: 'nothing',
      because: 'the other was long ago',
    },
    {
      late: { since: 999, at: 900 },
      next: { since: 0, at: 0 },
      found: 'nothing',
      because: 'it was too short',
    },
    {
      late: { since: 2000, at: 900 },
      next: { since: 2000, at: 0 },
      found: 'heartbeats-late',
      because: 'it comes again',
    },
  ])('is since when heartbeats are late again and again: $late becomes $next, as $because', (row) => {
    const late = row.late && { late: { since: iso(row.late.since), at: iso(row.late.at) } };
    const after = decideOf(half, seen(91), late ?? {});
    expect(after.codes).toBe(row.found);
    expect(after.next).toEqual({ late: { since: ms(row.next.since), at: ms(row.next.at) } });
  });

  it.each([
    { at: 900, found: 'heartbeats-late', because: 'clocks do not mend themselves' },
    { at: 901, found: 'nothing', because: 'somebody may have mended them' },
  ])('tells late heartbeats $at s after the last: $found, as $because', (row) => {
    const late = { since: iso(2000), at: iso(row.at) };
    expect(decideOf(half, () => {}, { late }).codes).toBe(row.found);
  });
});
