/** What coderd will do by itself, from workspaces and templates. */
import { describe, expect, test } from 'vitest';
import type { EpochMs, OrganizationId } from '../../lambda/core/brands.ts';
import { isForecastUnsure, readForecast, type TransitionGroup } from '../../lambda/core/forecast.ts';
import type { OrganizationSight, Template, Workspace } from '../../lambda/core/snapshot.ts';
import { transitionsOf } from '../../lambda/core/transitions.ts';
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
} from '../support/parts.ts';

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
  const [next] = transitionsOf(workspace, template);
  return next === undefined
    ? 'nothing'
    : `${next.kind} in ${(next.at - NOW) / MINUTE} min${next.takesJob ? '' : ' without a job'}`;
};

describe('autostart', () => {
  const stopped = { next_start_at: inFuture(5 * MINUTE) };
  test.each<Row>([
    { workspace: stopped, expected: 'autostart in 5 min', because: 'its schedule says so' },
    { workspace: {}, expected: 'nothing', because: 'it has no schedule' },
    {
      workspace: { ...stopped, autostart_schedule: null },
      expected: 'nothing',
      because: 'the user switched the schedule off',
    },
    {
      workspace: { next_start_at: null, autostart_schedule: 'CRON_TZ=UTC 0 9 * * *' },
      expected: 'nothing',
      because: 'coderd works the time out anew within a minute',
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
      because: 'who is dormant sleeps on',
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
      because: 'the template does not tell the days',
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
      because: 'what can not be told does not keep a pool asleep',
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
  test.each<Row>([
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

describe('dormancy and deletion', () => {
  const dormant = { dormant_at: ago(24 * HOUR), deleting_at: inFuture(HOUR) };
  const deletes = { time_til_dormant_autodelete_ms: 25 * HOUR };
  test.each<Row>([
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
      because: 'a stop that failed keeps nothing from being deleted',
    },
  ])('$expected, because $because', ({ workspace, template, expected }) => {
    expect(said(aWorkspace(workspace), aTemplate(template))).toBe(expected);
  });

  test('an unknown template says nothing of dormancy, and allows a start', () => {
    expect(said(aWorkspace({ last_used_at: ago(900 * HOUR) }), undefined)).toBe('nothing');
    expect(said(aWorkspace({ next_start_at: inFuture(MINUTE) }), undefined)).toBe('autostart in 1 min');
  });
});

type Seen = Partial<OrganizationSight> & { readonly at?: EpochMs };

function groupsOf(seen: Seen): readonly TransitionGroup[] {
  const organization = anOrganization({
    workspaces: { ...reading([aWorkspace({ next_start_at: seen.at ?? inFuture(MINUTE) })]), takenAt: NOW },
    templates: reading([aTemplate()]),
    activeVersionTags: { template: { cluster: 'gpu' } },
    ...seen,
  });
  return readForecast(aSnapshot({ organizations: [organization] }));
}

const gpu = { cluster: 'gpu' };

describe('one reading of workspaces', () => {
  const workspaces = { ...reading([aWorkspace({ next_start_at: inFuture(MINUTE) })]), takenAt: NOW };
  const templates = reading([aTemplate()]);
  const sight = anOrganization({ workspaces, templates, activeVersionTags: { template: gpu } });
  const told = (changed: Partial<OrganizationSight>): string =>
    readForecast(aSnapshot({ organizations: [{ ...sight, ...changed }] }))
      .map(({ tags, ahead }) => `${tags.cluster}: ${ahead.length}`)
      .join();

  test.each([
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
  ])('tells $expected a second time when $because', ({ changed, expected }) => {
    expect(told({})).toBe('gpu: 1');
    expect(told(changed)).toBe(expected);
  });
});

describe('the tag set', () => {
  test('is that of the active version, not that of the last build', () => {
    const workspace = aWorkspace({
      next_start_at: inFuture(MINUTE),
      latest_build: { job: { status: 'succeeded', tags: { cluster: 'old' } } },
    });
    expect(groupsOf({ workspaces: reading([workspace]) }).map(({ tags }) => tags.cluster)).toEqual(['gpu']);
  });

  test('is that of the last build where the active version could not be read', () => {
    const workspace = aWorkspace({
      next_start_at: inFuture(MINUTE),
      latest_build: { job: { status: 'succeeded', tags: { cluster: 'old' } } },
    });
    const groups = groupsOf({ workspaces: reading([workspace]), activeVersionTags: {} });
    expect(groups.map(({ tags }) => tags.cluster)).toEqual(['old']);
  });

  test('of a workspace of which neither is known is nobody’s', () => {
    expect(groupsOf({ activeVersionTags: {} })).toEqual([]);
  });
});

test('absurd lengths of time are no time', () => {
  const absurd = aTemplate({ time_til_dormant_ms: 1e300, failure_ttl_ms: 1e17 });
  expect(transitionsOf(aWorkspace({ latest_build: { job: failed(HOUR) } }), absurd)).toEqual([]);
});

test('prebuilt workspaces and those of another organization are left out', () => {
  const workspaces = reading([
    aWorkspace({ next_start_at: inFuture(MINUTE), is_prebuild: true }),
    aWorkspace({ next_start_at: inFuture(MINUTE), organization_id: 'other' as OrganizationId }),
  ]);
  expect(groupsOf({ workspaces })).toEqual([]);
});

describe('what is overdue', () => {
  /** Daemons of its tags, by when they registered and were last seen, in minutes ago. */
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

  test.each<Overdue>([
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
      rows: [[3, 0]],
      expected: 'presumed + made',
      because: 'the gate was open, and the workspaces were read before',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[3, 0]],
      expected: 'refused',
      because: 'the gate was open, and a later reading still shows it',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[5, 0]],
      expected: 'nothing',
      because: 'coderd had five minutes, and won’t do it',
    },
    {
      dueMinutes: 10,
      readMinutes: 6,
      rows: [[5, 0]],
      expected: 'made',
      because: 'coderd had five minutes, and nobody has looked since',
    },
    {
      dueMinutes: 20,
      readMinutes: 0,
      rows: [
        [19, 17],
        [12, 10],
        [2, 0],
      ],
      expected: 'nothing',
      because: 'what several daemons had together counts',
    },
    {
      dueMinutes: 20,
      readMinutes: 0,
      rows: [
        [4, 0],
        [3, 0],
      ],
      expected: 'refused',
      because: 'two at a time open the gate once',
    },
    {
      dueMinutes: 10,
      readMinutes: 0,
      rows: [[60, 9.5]],
      expected: 'ahead',
      because: 'the daemon was gone when it was due',
    },
  ])('for $dueMinutes min is $expected, because $because', ({ dueMinutes, readMinutes, rows, expected }) => {
    const daemons = reading(
      rows.map(([registered, seen], index) =>
        aDaemon({
          id: daemonId(`d${index}`),
          tags: gpu,
          created_at: ago(registered * MINUTE),
          last_seen_at: ago(seen * MINUTE),
        }),
      ),
    );
    const workspaces = {
      ...reading([aWorkspace({ next_start_at: ago(dueMinutes * MINUTE) })]),
      takenAt: ago(readMinutes * MINUTE),
    };
    expect(groupsOf({ workspaces, daemons }).map(listOf)).toEqual([expected]);
  });

  test('waits for a daemon with its tags', () => {
    const others = reading([aDaemon({ tags: { cluster: 'cpu' } })]);
    expect(groupsOf({ at: ago(10 * MINUTE), daemons: others }).map(listOf)).toEqual(['ahead']);
  });

  test.each([
    {
      dueMs: 119 * SECOND,
      expected: 'ahead',
      because: 'the executor counts in whole minutes: it may find it a minute ago only',
    },
    { dueMs: 120 * SECOND, expected: 'presumed + made', because: 'it has come' },
  ])('for $dueMs ms, read before, is $expected, because $because', ({ dueMs, expected }) => {
    const workspaces = { ...reading([aWorkspace({ next_start_at: ago(dueMs) })]), takenAt: ago(2 * MINUTE) };
    const daemons = reading([aDaemon({ tags: gpu })]);
    expect(groupsOf({ workspaces, daemons }).map(listOf)).toEqual([expected]);
  });

  test('is made as soon as its build is in the queue', () => {
    const workspace = aWorkspace({ next_start_at: ago(SECOND) });
    const jobs = reading([aJob({ metadata: { workspace_id: workspace.id } })]);
    const [group] = groupsOf({ workspaces: reading([workspace]), jobs });
    expect(group).toMatchObject({ ahead: [], presumed: [], made: [ago(SECOND)] });
  });
});

describe('what a workspace has ahead', () => {
  const dormant = aTemplate({ time_til_dormant_ms: 24 * HOUR + 5 * MINUTE });
  const aheadOf = (daemons: readonly { readonly created_at: EpochMs }[]): readonly string[] =>
    groupsOf({
      workspaces: reading([aWorkspace({ next_start_at: ago(HOUR) })]),
      templates: reading([dormant]),
      daemons: reading(daemons.map(({ created_at }) => aDaemon({ tags: gpu, created_at }))),
    }).flatMap(({ ahead }) => ahead.map(({ kind }) => kind));

  test('is its next start and the next of all others, since pools are woken for either', () => {
    expect(aheadOf([])).toEqual(['autostart', 'dormancy']);
  });

  test('is not hidden by what coderd won’t do', () => {
    expect(aheadOf([{ created_at: ago(HOUR) }])).toEqual(['dormancy']);
  });
});

test('builds that coderd made by itself are remembered by their reason, those of people are not', () => {
  const built = (reason: string, minutes: number): Workspace =>
    aWorkspace({ latest_build: { transition: 'start', reason, created_at: ago(minutes * MINUTE) } });
  const workspaces = reading([built('autostart', 3), built('initiator', 2), built('autostop', 1)]);
  expect(groupsOf({ workspaces })[0]?.made).toEqual([ago(3 * MINUTE), ago(MINUTE)]);
});

describe('more may be due than is known', () => {
  const ok = { ...reading([aWorkspace()]), takenAt: NOW };
  const templates = { ...reading([aTemplate()]), takenAt: NOW };
  test.each<{ seen: Partial<OrganizationSight>; unsure: boolean; because: string }>([
    { seen: {}, unsure: false, because: 'no forecast was asked for' },
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
      because: 'what templates allow is unknown',
    },
    { seen: { workspaces: ok }, unsure: true, because: 'what templates allow is unknown' },
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
  ])('$unsure, because $because', ({ seen, unsure }) => {
    expect(isForecastUnsure(anOrganization(seen), NOW)).toBe(unsure);
  });
});
