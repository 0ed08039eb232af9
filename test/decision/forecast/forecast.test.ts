/** The transitions that coderd will make by itself, from workspaces and templates. */
import { describe, expect, it } from 'vitest';
import { transitionsOf } from '../../../lambda/decision/demand/transitions.ts';
import {
  deriveForecast as deriveForecastWith,
  isForecastUnsure,
  type TransitionGroup,
} from '../../../lambda/decision/forecast/forecast.ts';
import { pollInterval } from '../../../lambda/decision/forecast/poll-interval.ts';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type {
  Daemon,
  OrganizationReadings,
  ReadingStatus,
  Snapshot,
  Template,
  Workspace,
} from '../../../lambda/decision/model/snapshot.ts';
import {
  aDaemon,
  ago,
  aJob,
  anOrganization,
  aSnapshot,
  aTemplate,
  aWorkspace,
  daemonId,
  HOUR,
  MINUTE,
  NOW,
  reading,
  SECOND,
} from '../../support/parts.ts';
import { inWords } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

const inFuture = (ms: number): EpochMs => ago(-ms);
type Build = Partial<Workspace['latest_build']>;
const running = (build: Build = {}): { latest_build: Build } => ({
  latest_build: { transition: 'start', deadline: inFuture(HOUR), ...build },
});
const failed = (ms: number): Workspace['latest_build']['job'] => ({
  status: 'failed',
  completed_at: ago(ms),
});

/** Templates that differ from the default. */
const onDays = (days_of_week: readonly string[] | null): Partial<Template> => ({
  autostart_requirement: { days_of_week } as Template['autostart_requirement'],
});
const cleansUp = { failure_ttl_ms: HOUR };
const dormantAfter = (time_til_dormant_ms: number) => ({ time_til_dormant_ms });
const unused = { last_used_at: ago(HOUR) };
const hasFailed = (transition: string) => ({ latest_build: { transition, job: failed(MINUTE) } });

type Row = {
  readonly workspace: Parameters<typeof aWorkspace>[0];
  readonly template?: Partial<Template>;
  readonly expected: string;
  readonly because: string;
};

const said = (workspace: Workspace, template: Template | undefined): string => {
  const [next] = transitionsOf(workspace, template, { readAt: NOW });
  return next === undefined
    ? 'nothing'
    : `${next.kind} in ${(next.at - NOW) / MINUTE} min${next.takesJob ? '' : ' without a job'}`;
};

describe('autostart', () => {
  const stopped = { next_start_at: inFuture(5 * MINUTE) };
  it.each(table<Row>`
    workspace                                                       | template              | expected           | because
    ${stopped}                                                      |                       | autostart in 5 min | its schedule gives this time
    ${{}}                                                           |                       | nothing            | it has no schedule
    ${{ ...stopped, autostart_schedule: null }}                     |                       | nothing            | the user switched the schedule off
    ${{ next_start_at: null, autostart_schedule: 'CRON_TZ=UTC 5 9 * * *' }} |                       | autostart in 5 min | coderd works the time out anew within a minute
    ${{ next_start_at: null, autostart_schedule: 'CRON_TZ=UTC 0 9 * * *' }} | ${onDays([])}         | nothing            | the template allows no day, so coderd finds none
    ${{ next_start_at: null, autostart_schedule: 'every morning' }} |                       | nothing            | the schedule cannot be parsed
    ${stopped}                                                      | ${onDays([])}         | nothing            | the template allows no day any more
    ${stopped}                                                      | ${onDays(null)}       | autostart in 5 min | a template that names no days allows all
    ${stopped}                                                      | ${{ allow_user_autostart: false }} | nothing            | the template forbids it
    ${{ ...stopped, dormant_at: ago(HOUR) }}                        |                       | nothing            | a dormant workspace does not start
    ${{ ...stopped, latest_build: { job: failed(HOUR) } }}          |                       | nothing            | its last stop failed
    ${{ ...stopped, ...running({ deadline: null }) }}               |                       | nothing            | it runs already
    ${{ ...stopped, latest_build: { job: { status: 'running' } } }} |                       | nothing            | a build is under way
    ${stopped}                                                      | ${onDays(['monday'])} | nothing            | it is a Friday, and the template allows Mondays only
    ${stopped}                                                      | ${onDays(['friday'])} | autostart in 5 min | Friday is allowed
    ${stopped}                                                      | ${{ autostart_requirement: {} }} | autostart in 5 min | the days of the template are unknown
    ${{ ...stopped, autostart_schedule: 'CRON_TZ=Pacific/Auckland 5 22 * * *', next_start_at: inFuture(4 * HOUR) }} | ${onDays(['friday'])} | nothing            | there it is Saturday by then
    ${{ ...stopped, autostart_schedule: 'CRON_TZ=Nowhere/Land 5 9 * * *' }} | ${onDays(['monday'])} | autostart in 5 min | an unknown status does not keep a pool from waking
    ${{ ...stopped, next_start_at: inFuture(365 * 24 * HOUR) }}     |                       | autostart in 525600 min | a year ahead is a long time, and no error
  `)('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });
});

describe('autostop', () => {
  it.each(table<Row>`
    workspace                                                    | template    | expected           | because
    ${running()}                                                 |             | autostop in 60 min | that is its deadline
    ${running({ max_deadline: inFuture(30 * MINUTE) })}          |             | autostop in 30 min | no activity moves it beyond the latest one
    ${running({ deadline: null, max_deadline: inFuture(HOUR) })} |             | autostop in 60 min | either may be there alone
    ${running({ deadline: null })}                               |             | nothing            | it has no deadline
    ${running({ deadline: -62135596800000 as EpochMs })}         |             | nothing            | Go writes the year 1 for none
    ${{ ...running(), dormant_at: ago(HOUR) }}                   |             | nothing            | coderd leaves the dormant alone
    ${running({ job: failed(MINUTE) })}                          |             | nothing            | it failed, and the template does not clean up
    ${running({ job: failed(MINUTE) })}                          | ${cleansUp} | autostop in 59 min | the template cleans failed builds up
    ${hasFailed('stop')}                                         | ${cleansUp} | autostop in 59 min | a stop that failed is tried again
    ${hasFailed('delete')}                                       | ${cleansUp} | nothing            | a deletion that failed is not
  `)('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });
});

describe('the status of the owner', () => {
  const starts = { next_start_at: inFuture(5 * MINUTE) };
  type OwnerRow = Omit<Row, 'template'> & {
    readonly owner: { readonly status?: string; readonly user_updated_at?: EpochMs };
  };
  const suspended = { status: 'suspended', user_updated_at: ago(MINUTE) };
  it.each(table<OwnerRow>`
    workspace                                    | owner                    | expected      | because
    ${starts}                                    | ${{ status: 'active' }}  | autostart 5   | coderd starts it
    ${starts}                                    | ${suspended}             | nothing       | coderd starts those of active owners
    ${starts}                                    | ${{ status: 'dormant' }} | nothing       | coderd starts those of active owners
    ${starts}                                    | ${{}}                    | autostart 5   | an older coderd does not send it
    ${running()}                                 | ${suspended}             | autostop -1   | coderd stops it at once
    ${running({ created_at: ago(SECOND * 30) })} | ${suspended}             | autostop -0.5 | it was started after that
    ${running()}                                 | ${{ status: 'dormant' }} | autostop 60   | it has a deadline
    ${running({ job: failed(MINUTE) })}          | ${suspended}             | nothing       | its start failed
  `)('makes of $owner: $expected, because $because', ({ workspace, owner, expected }) => {
    const circumstances = { owner: { user_id: 'ada', ...owner } };
    const coming = transitionsOf(aWorkspace(workspace), aTemplate(), circumstances);
    expect(inWords(coming.map(({ kind, at }) => `${kind} ${(at - NOW) / MINUTE}`))).toBe(expected);
  });
});

describe('dormancy and deletion', () => {
  const dormant = { dormant_at: ago(24 * HOUR), deleting_at: inFuture(HOUR) };
  const deletes = { time_til_dormant_autodelete_ms: 25 * HOUR };
  it.each(table<Row>`
    workspace                                               | template                  | expected           | because
    ${unused}                                               | ${dormantAfter(2 * HOUR)} | dormancy in 60 min without a job | a stopped one is only marked
    ${{ ...running({ deadline: null }), last_used_at: ago(HOUR) }} | ${dormantAfter(2 * HOUR)} | dormancy in 60 min | one that runs is stopped too
    ${{ last_used_at: ago(HOUR), dormant_at: ago(MINUTE) }} | ${dormantAfter(2 * HOUR)} | nothing            | it is dormant
    ${unused}                                               |                           | nothing            | the template does not ask for it
    ${{ ...running(), last_used_at: ago(HOUR) }}            | ${dormantAfter(90 * MINUTE)} | dormancy in 30 min | it comes before the deadline
    ${dormant}                                              | ${deletes}                | deletion in 60 min | its time is set
    ${dormant}                                              |                           | nothing            | the template does not delete any more
    ${{ ...dormant, dormant_at: null }}                     | ${deletes}                | nothing            | it has been woken
    ${{ ...dormant, deleting_at: ago(HOUR), latest_build: { transition: 'delete', job: failed(HOUR) } }} | ${deletes}                | deletion in 1380 min | after a failure coderd waits for a day
    ${{ ...dormant, latest_build: { transition: 'stop', job: failed(HOUR) } }} | ${deletes}                | deletion in 60 min | a failed stop does not prevent deletion
  `)('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });

  it('expects a start and no dormancy for an unknown template', () => {
    expect(said(aWorkspace({ last_used_at: ago(900 * HOUR) }), undefined)).toBe('nothing');
    expect(said(aWorkspace({ next_start_at: inFuture(MINUTE) }), undefined)).toBe('autostart in 1 min');
  });
});

type Seen = Partial<OrganizationReadings> & { readonly at?: EpochMs };

/** Its builds show that coderd polls every minute. */
const others = anOrganization({
  id: 'org-others' as OrganizationId,
  name: 'others',
  workspaces: reading(
    [44, 31, 14, 7, 6, 1].map((minutes) =>
      aWorkspace({ latest_build: { created_at: ago(minutes * MINUTE), reason: 'autostop' } }),
    ),
  ),
});

const deriveForecast = (snapshot: Snapshot) => deriveForecastWith(snapshot, pollInterval(snapshot));

function groupsOf(
  seen: Seen,
  beside: readonly OrganizationReadings[] = [others],
): readonly TransitionGroup[] {
  const organization = anOrganization({
    workspaces: { ...reading([aWorkspace({ next_start_at: seen.at ?? inFuture(MINUTE) })]), takenAt: NOW },
    templates: reading([aTemplate()]),
    activeVersionTags: { template: { cluster: 'gpu' } },
    ...seen,
  });
  return deriveForecast(aSnapshot({ organizations: [organization, ...beside] }));
}

const gpu = { cluster: 'gpu' };

describe('one reading of workspaces', () => {
  const workspaces = { ...reading([aWorkspace({ next_start_at: inFuture(MINUTE) })]), takenAt: NOW };
  const templates = reading([aTemplate()]);
  const view = anOrganization({ workspaces, templates, activeVersionTags: { template: gpu } });
  const describeForecast = (changed: Partial<OrganizationReadings>): string =>
    deriveForecast(aSnapshot({ organizations: [{ ...view, ...changed }] }))
      .map(({ tags, ahead }) => `${tags.cluster}: ${ahead.length}`)
      .join();

  it.each([
    { changed: {}, expected: 'gpu: 1', because: 'nothing else has changed' },
    {
      changed: { activeVersionTags: { template: { cluster: 'tpu' } } },
      expected: 'tpu: 1',
      because: 'a version was pushed',
    },
    {
      changed: { templates: reading([aTemplate({ allow_user_autostart: false })]) },
      expected: 'gpu: 0',
      because: 'a template was changed',
    },
    {
      changed: { id: 'org-b' as OrganizationId },
      expected: '',
      because: 'its workspaces are of another one',
    },
    { changed: {}, expected: 'gpu: 1', because: 'all is as it was' },
  ])('gives $expected a second time when $because', ({ changed, expected }) => {
    expect(describeForecast({})).toBe('gpu: 1');
    expect(describeForecast(changed)).toBe(expected);
  });
});

it('computes the next start from the time of the reading if coderd has none yet', () => {
  const unknown = reading([aWorkspace({ next_start_at: null, autostart_schedule: '50 8 * * *' })]);
  const firstOf = (takenAt: EpochMs | undefined): EpochMs | undefined =>
    groupsOf({ workspaces: { ...unknown, takenAt } })[0]?.ahead[0]?.at;
  expect(firstOf(ago(5 * MINUTE))).toBe(inFuture(24 * HOUR - 10 * MINUTE));
  expect(firstOf(ago(15 * MINUTE))).toBe(ago(10 * MINUTE));
  expect(firstOf(undefined)).toBeUndefined();
});

it('repeats a failed stop if the version of coderd does', () => {
  const workspaces = reading([aWorkspace({ latest_build: { transition: 'stop', job: failed(MINUTE) } })]);
  const templates = reading([aTemplate({ failure_ttl_ms: HOUR })]);
  const view = anOrganization({ workspaces, templates, activeVersionTags: { template: gpu } });
  const kindsAt = (version: string | null): readonly string[] =>
    deriveForecast(aSnapshot({ organizations: [view], version })).flatMap(({ ahead }) =>
      ahead.map(({ kind }) => kind),
    );
  expect(kindsAt('v2.33.7')).toEqual([]);
  expect(kindsAt('v2.33.8')).toEqual(['autostop']);
  expect(kindsAt('v2.33.7')).toEqual([]);
  expect(kindsAt(null)).toEqual(['autostop']);
});

describe('the tag set of a transition', () => {
  it('is that of the active version, not that of the latest build', () => {
    const workspace = aWorkspace({
      next_start_at: inFuture(MINUTE),
      latest_build: { job: { status: 'succeeded', tags: { cluster: 'old' } } },
    });
    expect(groupsOf({ workspaces: reading([workspace]) }).map(({ tags }) => tags.cluster)).toEqual(['gpu']);
  });

  it('is that of the latest build if the active version could not be read', () => {
    const workspace = aWorkspace({
      next_start_at: inFuture(MINUTE),
      latest_build: { job: { status: 'succeeded', tags: { cluster: 'old' } } },
    });
    const groups = groupsOf({ workspaces: reading([workspace]), activeVersionTags: {} });
    expect(groups.map(({ tags }) => tags.cluster)).toEqual(['old']);
  });

  it('is unknown if neither is known, so the transition is ignored', () => {
    expect(groupsOf({ activeVersionTags: {} })).toEqual([]);
  });
});

it('ignores absurd durations', () => {
  const absurd = aTemplate({ time_til_dormant_ms: 1e300, failure_ttl_ms: 1e17 });
  expect(transitionsOf(aWorkspace({ latest_build: { job: failed(HOUR) } }), absurd)).toEqual([]);
});

it('ignores prebuilt workspaces and those of another organization', () => {
  const workspaces = reading([
    aWorkspace({ next_start_at: inFuture(MINUTE), is_prebuild: true }),
    aWorkspace({ next_start_at: inFuture(MINUTE), organization_id: 'other' as OrganizationId }),
  ]);
  expect(groupsOf({ workspaces })).toEqual([]);
});

describe('an overdue transition', () => {
  type Overdue = {
    readonly dueMinutes: number;
    readonly readMinutes: number;
    /** Daemons with its tags: `10-5` registered 10 minutes ago and was last seen 5 minutes ago. */
    readonly rows: string;
    readonly expected: string;
    readonly because: string;
  };
  const listOf = ({ ahead, refused, presumed, made }: TransitionGroup): string =>
    [
      ...ahead.map(() => 'ahead'),
      ...refused.map(() => 'refused'),
      ...presumed.map(() => 'presumed'),
      ...made.map(() => 'made'),
    ].join(' + ') || 'nothing';

  const rowsOf = (rows: string): readonly Daemon[] =>
    rows.split(' ').flatMap((row, index) => {
      if (row === 'none') return [];
      const [registered = 0, seen = 0] = row.split('-').map(Number);
      return aDaemon({
        id: daemonId(`d${index}`),
        tags: gpu,
        created_at: ago(registered * MINUTE),
        last_seen_at: ago(seen * MINUTE),
      });
    });

  it.each(table<Overdue>`
    dueMinutes | readMinutes | rows         | expected        | because
    10         | 0           | none         | ahead           | no daemon was there
    10         | 0           | 1-0          | ahead           | the gate has been open for a minute only
    10         | 4           | 2-0          | presumed + made | the gate was open, and the workspaces were read before
    10         | 0           | 2-0          | presumed + made | coderd gets a second poll
    10         | 0           | 4-3.5        | ahead           | the daemon left after one poll, and a later reading still shows it
    10         | 0           | 3-0          | refused         | coderd had two polls, and a later reading still shows it
    10         | 4           | 3-0          | made            | coderd had two polls, and workspaces are yet to be read
    20         | 0           | 10-9.5 5-4.5 | ahead           | neither daemon was there for two polls
    20         | 0           | 4-2 2-0      | refused         | one daemon after the other holds the gate open
    10         | 0           | 60-11.5      | ahead           | the gate was closed when it was due
    1440       | 0           | 1500-1470    | ahead           | after an outage no transition is too old
  `)(
    'is $expected after $dueMinutes min, because $because',
    ({ dueMinutes, readMinutes, rows, expected }) => {
      const workspaces = {
        ...reading([aWorkspace({ next_start_at: ago(dueMinutes * MINUTE) })]),
        takenAt: ago(readMinutes * MINUTE),
      };
      expect(groupsOf({ workspaces, daemons: reading(rowsOf(rows)) }).map(listOf)).toEqual([expected]);
    },
  );

  describe('a refused transition', () => {
    const seenWith = (rows: string, seen: Partial<OrganizationReadings> = {}): TransitionGroup | undefined =>
      groupsOf({ at: ago(100 * HOUR), offlineDaemons: reading(rowsOf(rows)), ...seen })[0];
    const describeForecast = (group: TransitionGroup | undefined): string => {
      const [refusal] = group?.refused ?? [];
      if (group === undefined || refusal === undefined) return 'never refused';
      const minutes = (refusal.nextTryAt - NOW) / MINUTE;
      return `${listOf(group)}, refused ${refusal.tries} times, next in ${minutes} min`;
    };

    it.each(table<{ rows: string; expected: string; because: string }>`
      rows                     | expected                                        | because
      60-50                    | refused, refused 1 times, next in 11.5 min      | the gate closed 48.5 min ago
      100-61.5                 | ahead + refused, refused 1 times, next in 0 min | the gate closed an hour ago
      900-800 100-61.5         | refused, refused 2 times, next in 300 min       | it is six hours after the second time
      900-890 800-790 100-61.5 | refused, refused 3 times, next in 1380 min      | it is a day after the third
      900-890 800-790 700-690 600-590 500-490 100-61.5 | refused, refused 6 times, next in 1380 min      | it is never more than a day
      100-61.5 30-29.9         | ahead + refused, refused 1 times, next in 0 min | a daemon that ran for a moment changes nothing
      100-61.5 1-0             | ahead + refused, refused 1 times, next in 0 min | the daemon for the next try is there for a minute
      100-61.5 2-0             | refused + presumed + made, refused 1 times, next in 0 min | that daemon stays for another poll
      100-61.5 3-0             | refused, refused 2 times, next in 360 min       | that try failed
    `)('is $expected, because $because', ({ rows, expected }) => {
      expect(describeForecast(seenWith(rows))).toBe(expected);
    });

    it.each(table<{ rows: string; expected: string; because: string }>`
      rows          | expected                         | because
      3-0           | refused 1 times, next in 60 min  | it seems to look every minute
      100-61.5 18-0 | refused 1 times, next in 0 min   | it may look every ten minutes
      100-61.5 21-0 | refused 2 times, next in 360 min | it had two polls even then
    `)('is $expected if the poll interval is unknown, because $because', (row) => {
      const offlineDaemons = reading(rowsOf(row.rows));
      const [group] = groupsOf({ at: ago(100 * HOUR), offlineDaemons }, []);
      expect(describeForecast(group)).toContain(row.expected);
    });

    it('is judged by the rows of this look before older ones', () => {
      const older = rowsOf('100-99');
      const daemons = reading(rowsOf('100-30'));
      expect(describeForecast(seenWith('none', { daemons, offlineDaemons: reading(older) }))).toBe(
        'refused, refused 1 times, next in 31.5 min',
      );
    });

    it('is refused only for the tag set whose gate was open', () => {
      const offlineDaemons = reading(rowsOf('60-50').map((row) => ({ ...row, tags: { cluster: 'cpu' } })));
      expect(describeForecast(seenWith('none', { offlineDaemons }))).toBe('never refused');
    });
  });

  it.each([
    { dueMinutes: 0, expected: 'ahead', because: 'it is due' },
    { dueMinutes: 14, expected: 'ahead', because: 'it gets a quarter of an hour' },
    { dueMinutes: 15, expected: 'nothing', because: 'that is over' },
    { dueMinutes: 60, expected: 'ahead', because: 'an hour has passed' },
  ])('is $expected after $dueMinutes min without any row of offline daemons: $because', (row) => {
    const organization = anOrganization({
      workspaces: reading([aWorkspace({ next_start_at: ago(row.dueMinutes * MINUTE) })]),
      templates: reading([aTemplate()]),
      activeVersionTags: { template: gpu },
    });
    for (const version of [null, 'v0.0.0-devel+3006da5']) {
      const snapshot = aSnapshot({ organizations: [organization], version });
      expect(deriveForecast(snapshot).map(listOf)).toEqual([row.expected]);
    }
  });

  it('waits for a daemon with its tags', () => {
    const others = reading([aDaemon({ tags: { cluster: 'cpu' } })]);
    expect(groupsOf({ at: ago(10 * MINUTE), daemons: others }).map(listOf)).toEqual(['ahead']);
  });

  it.each([
    {
      dueMs: 119 * SECOND,
      expected: 'ahead',
      because: 'the executor counts in whole minutes: it may find it a minute ago only',
    },
    { dueMs: 120 * SECOND, expected: 'presumed + made', because: 'it has come' },
  ])('is $expected after $dueMs ms if read before, because $because', ({ dueMs, expected }) => {
    const workspaces = { ...reading([aWorkspace({ next_start_at: ago(dueMs) })]), takenAt: ago(2 * MINUTE) };
    const daemons = reading([aDaemon({ tags: gpu })]);
    expect(groupsOf({ workspaces, daemons }).map(listOf)).toEqual([expected]);
  });

  it('is made as soon as its build is in the queue', () => {
    const workspace = aWorkspace({ next_start_at: ago(SECOND) });
    const jobs = reading([aJob({ metadata: { workspace_id: workspace.id } })]);
    const [group] = groupsOf({ workspaces: reading([workspace]), jobs });
    expect(group).toMatchObject({ ahead: [], presumed: [], made: [ago(SECOND)] });
  });
});

describe('the next transition of a workspace', () => {
  const dormant = aTemplate({ time_til_dormant_ms: 24 * HOUR + 5 * MINUTE });
  const aheadOf = (daemons: readonly { readonly created_at: EpochMs }[]): readonly string[] =>
    groupsOf({
      workspaces: reading([aWorkspace({ next_start_at: ago(HOUR) })]),
      templates: reading([dormant]),
      daemons: reading(daemons.map(({ created_at }) => aDaemon({ tags: gpu, created_at }))),
    }).flatMap(({ ahead }) => ahead.map(({ kind }) => kind));

  it('is its next start and the next of all others, because pools wake for either', () => {
    expect(aheadOf([])).toEqual(['autostart', 'dormancy']);
  });

  it('is not hidden by a refused transition', () => {
    expect(aheadOf([{ created_at: ago(HOUR) }])).toEqual(['dormancy']);
  });
});

it('recognizes builds that coderd made by itself by their reason', () => {
  const built = (reason: string, minutes: number): Workspace =>
    aWorkspace({ latest_build: { transition: 'start', reason, created_at: ago(minutes * MINUTE) } });
  const workspaces = reading([built('autostart', 3), built('initiator', 2), built('autostop', 1)]);
  expect(groupsOf({ workspaces })[0]?.made).toEqual([ago(3 * MINUTE), ago(MINUTE)]);
});

describe('isForecastUnsure', () => {
  const ok = { ...reading([aWorkspace()]), takenAt: NOW };
  const none = { ...reading<Workspace>([]), takenAt: NOW };
  const workspacesAre = (status: ReadingStatus, takenAt = NOW) => ({
    workspaces: { ...ok, status, takenAt },
    templates,
  });
  const templates = { ...reading([aTemplate()]), takenAt: NOW };
  it.each(table<{ seen: Partial<OrganizationReadings>; unsure: boolean; because: string }>`
    seen                                                                                             | unsure | because
    ${{}}                                                                                            | false  | no forecast was requested
    ${{ workspaces: ok, templates }}                                                                 | false  | all was read
    ${workspacesAre('forbidden')}                                                                    | true   | nothing was read
    ${workspacesAre('failed')}                                                                       | true   | nothing was read
    ${workspacesAre('truncated')}                                                                    | true   | some are missing
    ${{ workspaces: ok, templates: { ...templates, status: 'failed' } }}                             | true   | the settings of templates are unknown
    ${{ workspaces: ok }}                                                                            | true   | the settings of templates are unknown
    ${workspacesAre('stale', ago(15 * MINUTE))}                                                      | false  | it is old, but not very
    ${workspacesAre('stale', ago(15 * MINUTE + 1))}                                                  | true   | it is too old
    ${{ workspaces: none, templates, jobs: reading([aJob({ metadata: { workspace_id: 'one' } })]) }} | true   | an empty list beside builds of workspaces is a contradiction
    ${{ workspaces: none, templates, jobs: reading([aJob()]) }}                                      | false  | an import of a template needs no workspace
  `)('is $unsure, because $because', ({ seen, unsure }) => {
    expect(isForecastUnsure(anOrganization(seen), NOW)).toBe(unsure);
  });
});
