/** What the record of recent jobs tells: who came unforeseen, and how long builds take. */
import { describe, expect, it } from 'vitest';
import { deriveRecord, foreseenIn } from '../../../lambda/decision/demand/record.ts';
import type { Job, OrganizationReadings, RecentJobs } from '../../../lambda/decision/model/snapshot.ts';
import { tagKey } from '../../../lambda/decision/model/tags.ts';
import {
  ago,
  aJob,
  anOrganization,
  aTemplate,
  aWorkspace,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  reading,
  SECOND,
} from '../../support/parts.ts';
import { buildAt, PREBUILDS_USER } from '../../support/stocked.ts';

const recorded = (
  items: readonly Job[],
  given: Partial<OrganizationReadings & RecentJobs> = {},
): OrganizationReadings => {
  const { since, ...organization } = given;
  return anOrganization({ ...organization, recentJobs: { ...reading(items), since } });
};
const arrivalsOf = (job: Job, given: Partial<OrganizationReadings> = {}): number =>
  deriveRecord(recorded([job], given)).together([tagKey(job.tags)]).times.length;

describe('by the reason of the build', () => {
  it.each([
    { reason: 'initiator', unforeseen: true },
    { reason: 'dashboard', unforeseen: true },
    { reason: 'ssh_connection', unforeseen: true },
    { reason: 'a reason of a later release', unforeseen: true },
    { reason: 'autostart', unforeseen: false },
    { reason: 'autostop', unforeseen: false },
    { reason: 'dormancy', unforeseen: false },
    { reason: 'autodelete', unforeseen: false },
    { reason: 'task_auto_pause', unforeseen: false },
  ])('$reason is unforeseen: $unforeseen', ({ reason, unforeseen }) => {
    const job = aJob({ reason, metadata: { workspace_id: 'w' } });
    expect(arrivalsOf(job)).toBe(unforeseen ? 1 : 0);
  });
});

describe('jobs that are no builds of coderd’s own', () => {
  it('template imports and dry runs are unforeseen', () => {
    expect(arrivalsOf(aJob({ type: 'template_version_import', metadata: null }))).toBe(1);
    expect(arrivalsOf(aJob({ type: 'template_version_dry_run' }))).toBe(1);
  });

  it('prebuilds are not, whatever their reason', () => {
    for (const reason of [undefined, 'initiator', 'autostart'])
      expect(
        arrivalsOf(aJob({ initiator_id: PREBUILDS_USER, reason, metadata: { workspace_id: 'w' } })),
      ).toBe(0);
  });

  it('a job without initiator, metadata and reason is unforeseen', () => {
    expect(arrivalsOf(aJob({ initiator_id: null, metadata: null, reason: null }))).toBe(1);
  });
});

describe('where the list of jobs tells no reason, the workspace does', () => {
  const job = aJob({ id: jobId('build'), created_at: ago(30 * SECOND), metadata: { workspace_id: 'w' } });
  const kindWith = (workspace: Parameters<typeof aWorkspace>[0]): unknown =>
    foreseenIn(
      anOrganization({
        workspaces: reading([aWorkspace({ id: 'w', ...workspace })]),
        templates: reading([aTemplate()]),
        activeVersionTags: {},
      }),
    )(job);

  it.each([
    {
      scenario: 'its latest build is this one, by autostart',
      build: { reason: 'autostart' },
      expected: 'autostart',
    },
    {
      scenario: 'its latest build is this one, by autostop',
      build: { reason: 'autostop' },
      expected: 'autostop',
    },
    {
      scenario: 'its latest build is this one, by a person',
      build: { reason: 'initiator' },
      expected: undefined,
    },
    {
      scenario: 'its latest build is this one, without a reason',
      build: { reason: null },
      expected: undefined,
    },
  ])('$scenario: $expected', ({ build, expected }) => {
    const latest_build = { ...build, job: { id: jobId('build'), status: 'running' } };
    expect(kindWith({ latest_build })).toBe(expected);
  });

  it('a start was due when the job was made: an autostart', () => {
    expect(kindWith({ next_start_at: ago(MINUTE) })).toBe('autostart');
  });

  it('a start was due only after the job was made: a person', () => {
    expect(kindWith({ next_start_at: ago(20 * SECOND) })).toBe(undefined);
  });

  it('a stop was due when the job was made: an autostop', () => {
    expect(kindWith({ latest_build: { transition: 'start', deadline: ago(MINUTE) } })).toBe('autostop');
  });

  it('nothing was due: a person', () => {
    expect(kindWith({})).toBe(undefined);
  });

  it('the workspace is unknown, or workspaces were not read: a person', () => {
    expect(foreseenIn(anOrganization({ workspaces: reading([]), templates: reading([]) }))(job)).toBe(
      undefined,
    );
    expect(foreseenIn(anOrganization())(job)).toBe(undefined);
  });
});

describe('the times of arrivals', () => {
  it('are the newest first, of the tag sets that are asked for', () => {
    const gpu = { cluster: 'gpu' };
    const times = [3, 1, 2].map((hours) => ago(hours * HOUR));
    const record = deriveRecord(
      recorded([...times.map((at) => buildAt(at, 60, { tags: gpu })), buildAt(ago(5 * HOUR))]),
    );
    expect(record.together([tagKey(gpu)]).times).toEqual([ago(HOUR), ago(2 * HOUR), ago(3 * HOUR)]);
    expect(record.together([tagKey(gpu), tagKey({})]).times).toHaveLength(4);
    expect(record.together(['[]']).times).toEqual([]);
  });

  it('are the same object for the same tag sets, so that what is worked out of it can be kept', () => {
    const organization = recorded([buildAt(ago(HOUR)), buildAt(ago(2 * HOUR))]);
    const keys = [tagKey({})];
    expect(deriveRecord(organization).together(keys)).toBe(deriveRecord(organization).together(keys));
  });

  it('follow the workspaces when these are read anew', () => {
    const job = aJob({ id: jobId('build'), metadata: { workspace_id: 'w' } });
    const recentJobs = reading([job]);
    const withReason = (reason: string): number => {
      const latest_build = { reason, job: { id: jobId('build'), status: 'running' } };
      const workspaces = reading([aWorkspace({ id: 'w', latest_build })]);
      return deriveRecord(anOrganization({ recentJobs, workspaces })).together([tagKey({})]).times.length;
    };
    expect([withReason('initiator'), withReason('autostart'), withReason('initiator')]).toEqual([1, 0, 1]);
  });
});

describe('durations', () => {
  const like = {
    type: 'workspace_build',
    tags: {},
    metadata: { template_id: 't', workspace_build_transition: 'start' },
  };
  const builds = (count: number, seconds: number, given: Partial<Job> = {}): readonly Job[] =>
    Array.from({ length: count }, () => buildAt(ago(HOUR), seconds, { metadata: like.metadata, ...given }));
  const durationsIn = (...jobs: readonly Job[]): readonly number[] =>
    deriveRecord(recorded(jobs)).durationsOf(like);

  it('are those of the same template and transition', () => {
    const stops = builds(9, 10, { metadata: { template_id: 't', workspace_build_transition: 'stop' } });
    expect(durationsIn(...stops, ...builds(5, 90))).toEqual([90, 90, 90, 90, 90].map((s) => s * SECOND));
  });

  it('are those of the same tags where too few are of the template', () => {
    const others = builds(5, 40, { metadata: { template_id: 'u', workspace_build_transition: 'start' } });
    expect(durationsIn(...others, ...builds(4, 90))).toHaveLength(9);
  });

  it('are unknown where too few are like it', () => {
    expect(durationsIn(...builds(4, 90))).toEqual([]);
    expect(
      durationsIn(...builds(9, 90, { type: 'template_version_import', tags: { z: '9' }, metadata: null })),
    ).toEqual([]);
  });

  it('are of builds that succeeded, from their start to their end', () => {
    const failed = builds(9, 1, { status: 'failed' });
    const unfinished = builds(9, 1, { status: 'running', completed_at: null });
    const negative = [...builds(9, -1), ...builds(9, 0)];
    const waited = builds(5, 60, { created_at: ago(3 * HOUR) });
    expect(durationsIn(...failed, ...unfinished, ...negative, ...waited)).toEqual(
      Array<number>(5).fill(60 * SECOND),
    );
  });
});

it('a process that began to record less than half an hour ago is young', () => {
  const isYoung = (ms: number): boolean => deriveRecord(recorded([], { since: ago(ms) })).isYoung(NOW);
  expect([isYoung(0), isYoung(10 * MINUTE), isYoung(3 * HOUR)]).toEqual([true, true, false]);
  expect(deriveRecord(recorded([])).isYoung(NOW)).toBe(false);
});

it('the same jobs are read anew where the record began at another time or the templates differ', () => {
  const jobs = [buildAt(ago(HOUR))];
  const isYoung = (ms: number): boolean => deriveRecord(recorded(jobs, { since: ago(ms) })).isYoung(NOW);
  expect([isYoung(0), isYoung(3 * HOUR), isYoung(0)]).toEqual([true, false, true]);
  const templates = reading([aTemplate()]);
  const first = recorded(jobs);
  expect(deriveRecord({ ...first })).toBe(deriveRecord(first));
  expect(deriveRecord({ ...first, templates })).not.toBe(deriveRecord(first));
});

it('without a record nothing came and nothing is known', () => {
  const record = deriveRecord(anOrganization());
  expect(record.together([tagKey({})]).times).toEqual([]);
  expect(record.durationsOf(aJob())).toEqual([]);
  expect(record.isYoung(NOW)).toBe(false);
});
