/** The transitions that coderd will make by itself, from workspaces and templates. */
import { describe, expect, it } from 'vitest';
import { transitionsOf } from '../../../lambda/decision/demand/transitions.ts';
import {
  deriveForecast,
  isForecastUnsure,
  type TransitionGroup,
} from '../../../lambda/decision/forecast/forecast.ts';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type {
  Daemon,
  OrganizationReadings,
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
  it.each<Row>([
    { workspace: stopped, expected: 'autostart in 5 min', because: 'its schedule gives this time' },
    { workspace: {}, expected: 'nothing', because: 'it has no schedule' },
    {
      workspace: { ...stopped, autostart_schedule: null },
      expected: 'nothing',
      because: 'the user switched the schedule off',
    },
    {
      workspace: { next_start_at: null, autostart_schedule: 'CRON_TZ=UTC 5 9 * * *' },
      expected: 'autostart in 5 min',
      because: 'coderd works the time out anew within a minute',
    },
    {
      workspace: { next_start_at: null, autostart_schedule: 'CRON_TZ=UTC 0 9 * * *' },
      template: { autostart_requirement: { days_of_week: [] } },
      expected: 'nothing',
      because: 'the template allows no day, so coderd finds none',
    },
    {
      workspace: { next_start_at: null, autostart_schedule: 'every morning' },
      expected: 'nothing',
      because: 'the schedule cannot be parsed',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: { days_of_week: [] } },
      expected: 'nothing',
      because: 'the template allows no day any more',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: { days_of_week: null } },
      expected: 'autostart in 5 min',
      because: 'a template that names no days allows all',
    },
    {
      workspace: stopped,
      template: { allow_user_autostart: false },
      expected: 'nothing',
      because: 'the template forbids it',
    },
    {
      workspace: { ...stopped, dormant_at: ago(HOUR) },
      expected: 'nothing',
      because: 'a dormant workspace does not start',
    },
    {
      workspace: { ...stopped, latest_build: { job: failed(HOUR) } },
      expected: 'nothing',
      because: 'its last stop failed',
    },
    {
      workspace: { ...stopped, ...running({ deadline: null }) },
      expected: 'nothing',
      because: 'it runs already',
    },
    {
      workspace: { ...stopped, latest_build: { job: { status: 'running' } } },
      expected: 'nothing',
      because: 'a build is under way',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: { days_of_week: ['monday'] } },
      expected: 'nothing',
      because: 'it is a Friday, and the template allows Mondays only',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: { days_of_week: ['friday'] } },
      expected: 'autostart in 5 min',
      because: 'Friday is allowed',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: { days_of_week: [] } },
      expected: 'nothing',
      because: 'the template allows no day',
    },
    {
      workspace: stopped,
      template: { autostart_requirement: {} },
      expected: 'autostart in 5 min',
      because: 'the days of the template are unknown',
    },
    {
      workspace: {
        ...stopped,
        autostart_schedule: 'CRON_TZ=Pacific/Auckland 5 22 * * *',
        next_start_at: inFuture(4 * HOUR),
      },
      template: { autostart_requirement: { days_of_week: ['friday'] } },
      expected: 'nothing',
      because: 'there it is Saturday by then',
    },
    {
      workspace: { ...stopped, autostart_schedule: 'CRON_TZ=Nowhere/Land 5 9 * * *' },
      template: { autostart_requirement: { days_of_week: ['monday'] } },
      expected: 'autostart in 5 min',
      because: 'an unknown status does not keep a pool from waking',
    },
    {
      workspace: { ...stopped, next_start_at: inFuture(365 * 24 * HOUR) },
      expected: 'autostart in 525600 min',
      because: 'a year ahead is a long time, and no error',
    },
  ])('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });
});

describe('autostop', () => {
  it.each<Row>([
    { workspace: running(), expected: 'autostop in 60 min', because: 'that is its deadline' },
    {
      workspace: running({ max_deadline: inFuture(30 * MINUTE) }),
      expected: 'autostop in 30 min',
      because: 'no activity moves it beyond the latest one',
    },
    {
      workspace: running({ deadline: null, max_deadline: inFuture(HOUR) }),
      expected: 'autostop in 60 min',
      because: 'either may be there alone',
    },
    { workspace: running({ deadline: null }), expected: 'nothing', because: 'it has no deadline' },
    {
      workspace: running({ deadline: -62135596800000 as EpochMs }),
      expected: 'nothing',
      because: 'Go writes the year 1 for none',
    },
    {
      workspace: { ...running(), dormant_at: ago(HOUR) },
      expected: 'nothing',
      because: 'coderd leaves the dormant alone',
    },
    {
      workspace: running({ job: failed(MINUTE) }),
      expected: 'nothing',
      because: 'it failed, and the template does not clean up',
    },
    {
      workspace: running({ job: failed(MINUTE) }),
      template: { failure_ttl_ms: HOUR },
      expected: 'autostop in 59 min',
      because: 'the template cleans failed builds up',
    },
    {
      workspace: { latest_build: { transition: 'stop', job: failed(MINUTE) } },
      template: { failure_ttl_ms: HOUR },
      expected: 'autostop in 59 min',
      because: 'a stop that failed is tried again',
    },
    {
      workspace: { latest_build: { transition: 'delete', job: failed(MINUTE) } },
      template: { failure_ttl_ms: HOUR },
      expected: 'nothing',
      because: 'a deletion that failed is not',
    },
  ])('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });
});

describe('the status of the owner', () => {
  const starts = { next_start_at: inFuture(5 * MINUTE) };
  const suspended = { status: 'suspended', user_updated_at: ago(MINUTE) };
  it.each([
    {
      workspace: starts,
      owner: { status: 'active' },
      expected: ['autostart 5'],
      because: 'coderd starts it',
    },
    { workspace: starts, owner: suspended, expected: [], because: 'coderd starts those of active owners' },
    {
      workspace: starts,
      owner: { status: 'dormant' },
      expected: [],
      because: 'coderd starts those of active owners',
    },
    { workspace: starts, owner: {}, expected: ['autostart 5'], because: 'an older coderd does not send it' },
    { workspace: running(), owner: suspended, expected: ['autostop -1'], because: 'coderd stops it at once' },
    {
      workspace: running({ created_at: ago(SECOND * 30) }),
      owner: suspended,
      expected: ['autostop -0.5'],
      because: 'it was started after that',
    },
    {
      workspace: running(),
      owner: { status: 'dormant' },
      expected: ['autostop 60'],
      because: 'it has a deadline',
    },
    {
      workspace: running({ job: failed(MINUTE) }),
      owner: suspended,
      expected: [],
      because: 'its start failed',
    },
  ])('makes of $owner: $expected, because $because', ({ workspace, owner, expected }) => {
    const circumstances = { owner: { user_id: 'ada', ...owner } };
    const coming = transitionsOf(aWorkspace(workspace), aTemplate(), circumstances);
    expect(coming.map(({ kind, at }) => `${kind} ${(at - NOW) / MINUTE}`)).toEqual(expected);
  });
});

describe('dormancy and deletion', () => {
  const dormant = { dormant_at: ago(24 * HOUR), deleting_at: inFuture(HOUR) };
  const deletes = { time_til_dormant_autodelete_ms: 25 * HOUR };
  it.each<Row>([
    {
      workspace: { last_used_at: ago(HOUR) },
      template: { time_til_dormant_ms: 2 * HOUR },
      expected: 'dormancy in 60 min without a job',
      because: 'a stopped one is only marked',
    },
    {
      workspace: { ...running({ deadline: null }), last_used_at: ago(HOUR) },
      template: { time_til_dormant_ms: 2 * HOUR },
      expected: 'dormancy in 60 min',
      because: 'one that runs is stopped too',
    },
    {
      workspace: { last_used_at: ago(HOUR), dormant_at: ago(MINUTE) },
      template: { time_til_dormant_ms: 2 * HOUR },
      expected: 'nothing',
      because: 'it is dormant',
    },
    {
      workspace: { last_used_at: ago(HOUR) },
      expected: 'nothing',
      because: 'the template does not ask for it',
    },
    {
      workspace: { ...running(), last_used_at: ago(HOUR) },
      template: { time_til_dormant_ms: 90 * MINUTE },
      expected: 'dormancy in 30 min',
      because: 'it comes before the deadline',
    },
    { workspace: dormant, template: deletes, expected: 'deletion in 60 min', because: 'its time is set' },
    { workspace: dormant, expected: 'nothing', because: 'the template does not delete any more' },
    {
      workspace: { ...dormant, dormant_at: null },
      template: deletes,
      expected: 'nothing',
      because: 'it has been woken',
    },
    {
      workspace: {
        ...dormant,
        deleting_at: ago(HOUR),
        latest_build: { transition: 'delete', job: failed(HOUR) },
      },
      template: deletes,
      expected: 'deletion in 1380 min',
      because: 'after a failure coderd waits for a day',
    },
    {
      workspace: { ...dormant, latest_build: { transition: 'stop', job: failed(HOUR) } },
      template: deletes,
      expected: 'deletion in 60 min',
      because: 'a failed stop does not prevent deletion',
    },
  ])('$expected, because $because', ({ workspace, template, expected }) => {
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
  /** Daemons with its tags: when they registered and were last seen, in minutes ago. */
  type Rows = readonly (readonly [registered: number, seen: number])[];
  type Overdue = {
    readonly dueMinutes: number;
    readonly readMinutes: number;
    readonly rows: Rows;
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

  const rowsOf = (rows: Rows): readonly Daemon[] =>
    rows.map(([registered, seen], index) =>
      aDaemon({
        id: daemonId(`d${index}`),
        tags: gpu,
        created_at: ago(registered * MINUTE),
        last_seen_at: ago(seen * MINUTE),
      }),
    );

  it.each<Overdue>([
    { dueMinutes: 10, readMinutes: 0, rows: [], expected: 'ahead', because: 'no daemon was there' },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[1, 0]],
      expected: 'ahead',
      because: 'the gate has been open for a minute only',
    },
    {
      dueMinutes: 10,
      readMinutes: 4,
      rows: [[2, 0]],
      expected: 'presumed + made',
      because: 'the gate was open, and the workspaces were read before',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[2, 0]],
      expected: 'presumed + made',
      because: 'coderd gets a second poll',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[4, 3.5]],
      expected: 'ahead',
      because: 'the daemon left after one poll, and a later reading still shows it',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[3, 0]],
      expected: 'refused',
      because: 'coderd had two polls, and a later reading still shows it',
    },
    {
      dueMinutes: 10,
      readMinutes: 4,
      rows: [[3, 0]],
      expected: 'made',
      because: 'coderd had two polls, and workspaces are yet to be read',
    },
    {
      dueMinutes: 20,
      readMinutes: 0,
      rows: [
        [10, 9.5],
        [5, 4.5],
      ],
      expected: 'ahead',
      because: 'neither daemon was there for two polls',
    },
    {
      dueMinutes: 20,
      readMinutes: 0,
      rows: [
        [4, 2],
        [2, 0],
      ],
      expected: 'refused',
      because: 'one daemon after the other holds the gate open',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[60, 11.5]],
      expected: 'ahead',
      because: 'the gate was closed when it was due',
    },
    {
      dueMinutes: 24 * 60,
      readMinutes: 0,
      rows: [[24 * 60 + 60, 24 * 60 + 30]],
      expected: 'ahead',
      because: 'after an outage no transition is too old',
    },
  ])(
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
    const seenWith = (rows: Rows, seen: Partial<OrganizationReadings> = {}): TransitionGroup | undefined =>
      groupsOf({ at: ago(100 * HOUR), offlineDaemons: reading(rowsOf(rows)), ...seen })[0];
    const describeForecast = (group: TransitionGroup | undefined): string => {
      const [refusal] = group?.refused ?? [];
      if (group === undefined || refusal === undefined) return 'never refused';
      const minutes = (refusal.nextTryAt - NOW) / MINUTE;
      return `${listOf(group)}, refused ${refusal.tries} times, next in ${minutes} min`;
    };

    it.each<{ rows: Rows; expected: string; because: string }>([
      {
        rows: [[60, 50]],
        expected: 'refused, refused 1 times, next in 11.5 min',
        because: 'the gate closed 48.5 min ago',
      },
      {
        rows: [[100, 61.5]],
        expected: 'ahead + refused, refused 1 times, next in 0 min',
        because: 'the gate closed an hour ago',
      },
      {
        rows: [
          [900, 800],
          [100, 61.5],
        ],
        expected: 'refused, refused 2 times, next in 300 min',
        because: 'it is six hours after the second time',
      },
      {
        rows: [
          [900, 890],
          [800, 790],
          [100, 61.5],
        ],
        expected: 'refused, refused 3 times, next in 1380 min',
        because: 'it is a day after the third',
      },
      {
        rows: [
          [900, 890],
          [800, 790],
          [700, 690],
          [600, 590],
          [500, 490],
          [100, 61.5],
        ],
        expected: 'refused, refused 6 times, next in 1380 min',
        because: 'it is never more than a day',
      },
      {
        rows: [
          [100, 61.5],
          [30, 29.9],
        ],
        expected: 'ahead + refused, refused 1 times, next in 0 min',
        because: 'a daemon that ran for a moment changes nothing',
      },
      {
        rows: [
          [100, 61.5],
          [1, 0],
        ],
        expected: 'ahead + refused, refused 1 times, next in 0 min',
        because: 'the daemon for the next try is there for a minute',
      },
      {
        rows: [
          [100, 61.5],
          [2, 0],
        ],
        expected: 'refused + presumed + made, refused 1 times, next in 0 min',
        because: 'that daemon stays for another poll',
      },
      {
        rows: [
          [100, 61.5],
          [3, 0],
        ],
        expected: 'refused, refused 2 times, next in 360 min',
        because: 'that try failed',
      },
    ])('is $expected, because $because', ({ rows, expected }) => {
      expect(describeForecast(seenWith(rows))).toBe(expected);
    });

    it.each(table<{ rows: Rows; expected: string; because: string }>`
      rows                      | expected                         | because
      ${[[3, 0]]}               | refused 1 times, next in 60 min  | it seems to look every minute
      ${[[100, 61.5], [18, 0]]} | refused 1 times, next in 0 min   | it may look every ten minutes
      ${[[100, 61.5], [21, 0]]} | refused 2 times, next in 360 min | it had two polls even then
    `)('is $expected if the poll interval is unknown, because $because', (row) => {
      const offlineDaemons = reading(rowsOf(row.rows));
      const [group] = groupsOf({ at: ago(100 * HOUR), offlineDaemons }, []);
      expect(describeForecast(group)).toContain(row.expected);
    });

    it('is judged by the rows of this look before older ones', () => {
      const older = rowsOf([[100, 99]]);
      const daemons = reading(rowsOf([[100, 30]]));
      expect(describeForecast(seenWith([], { daemons, offlineDaemons: reading(older) }))).toBe(
        'refused, refused 1 times, next in 31.5 min',
      );
    });

    it('is refused only for the tag set whose gate was open', () => {
      const offlineDaemons = reading(rowsOf([[60, 50]]).map((row) => ({ ...row, tags: { cluster: 'cpu' } })));
      expect(describeForecast(seenWith([], { offlineDaemons }))).toBe('never refused');
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
  const templates = { ...reading([aTemplate()]), takenAt: NOW };
  it.each<{ seen: Partial<OrganizationReadings>; unsure: boolean; because: string }>([
    { seen: {}, unsure: false, because: 'no forecast was requested' },
    { seen: { workspaces: ok, templates }, unsure: false, because: 'all was read' },
    {
      seen: { workspaces: { ...ok, status: 'forbidden' }, templates },
      unsure: true,
      because: 'nothing was read',
    },
    {
      seen: { workspaces: { ...ok, status: 'failed' }, templates },
      unsure: true,
      because: 'nothing was read',
    },
    {
      seen: { workspaces: { ...ok, status: 'truncated' }, templates },
      unsure: true,
      because: 'some are missing',
    },
    {
      seen: { workspaces: ok, templates: { ...templates, status: 'failed' } },
      unsure: true,
      because: 'the settings of templates are unknown',
    },
    { seen: { workspaces: ok }, unsure: true, because: 'the settings of templates are unknown' },
    {
      seen: { workspaces: { ...ok, status: 'stale', takenAt: ago(15 * MINUTE) }, templates },
      unsure: false,
      because: 'it is old, but not very',
    },
    {
      seen: { workspaces: { ...ok, status: 'stale', takenAt: ago(15 * MINUTE + 1) }, templates },
      unsure: true,
      because: 'it is too old',
    },
    {
      seen: {
        workspaces: { ...reading([]), takenAt: NOW },
        templates,
        jobs: reading([aJob({ metadata: { workspace_id: 'one' } })]),
      },
      unsure: true,
      because: 'an empty list beside builds of workspaces is a contradiction',
    },
    {
      seen: { workspaces: { ...reading([]), takenAt: NOW }, templates, jobs: reading([aJob()]) },
      unsure: false,
      because: 'an import of a template needs no workspace',
    },
  ])('is $unsure, because $because', ({ seen, unsure }) => {
    expect(isForecastUnsure(anOrganization(seen), NOW)).toBe(unsure);
  });
});
