/** The record of recent jobs: which builds were unforeseen, and how long builds take. */
import { describe, expect, it } from 'vitest';
import { deriveRecord, foreseenIn } from '../../../lambda/decision/demand/record.ts';
import type { Job, OrganizationReadings } from '../../../lambda/decision/model/snapshot.ts';
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
  reading,
  SECOND,
} from '../../support/parts.ts';
import { buildAt, PREBUILDS_USER } from '../../support/stocked.ts';

const recorded = (items: readonly Job[], given: Partial<OrganizationReadings> = {}): OrganizationReadings =>
  anOrganization({ ...given, recentJobs: reading(items) });
/** 1 if the job is unforeseen, else 0. */
const arrivalsOf = (job: Job, given: Partial<OrganizationReadings> = {}): number =>
  deriveRecord(recorded([job], given)).arrivals.get(tagKey(job.tags))?.lastAt === undefined ? 0 : 1;

describe('unforeseenIn with the reason of the build', () => {
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
  ])('classifies $reason as unforeseen: $unforeseen', ({ reason, unforeseen }) => {
    const job = aJob({ reason, metadata: { workspace_id: 'w' } });
    expect(arrivalsOf(job)).toBe(unforeseen ? 1 : 0);
  });
});

describe('unforeseenIn for jobs that are no builds of coderd', () => {
  it('counts template imports and dry runs as unforeseen', () => {
    expect(arrivalsOf(aJob({ type: 'template_version_import', metadata: null }))).toBe(1);
    expect(arrivalsOf(aJob({ type: 'template_version_dry_run' }))).toBe(1);
  });

  it('never counts prebuilds as unforeseen', () => {
    for (const reason of [undefined, 'initiator', 'autostart'])
      expect(
        arrivalsOf(aJob({ initiator_id: PREBUILDS_USER, reason, metadata: { workspace_id: 'w' } })),
      ).toBe(0);
  });

  it('counts a job without initiator, metadata and reason as unforeseen', () => {
    expect(arrivalsOf(aJob({ initiator_id: null, metadata: null, reason: null }))).toBe(1);
  });
});

describe('the workspace of a job without a reason', () => {
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
  ])('gives $expected for $scenario', ({ build, expected }) => {
    const latest_build = { ...build, job: { id: jobId('build'), status: 'running' } };
    expect(kindWith({ latest_build })).toBe(expected);
  });

  it('shows an autostart if a start was due when the job was made', () => {
    expect(kindWith({ next_start_at: ago(MINUTE) })).toBe('autostart');
    expect(kindWith({ next_start_at: ago(30 * SECOND) })).toBe('autostart');
  });

  it('shows a person if a start was due only after the job was made', () => {
    expect(kindWith({ next_start_at: ago(20 * SECOND) })).toBe(undefined);
  });

  it('shows an autostop if a stop was due when the job was made', () => {
    expect(kindWith({ latest_build: { transition: 'start', deadline: ago(MINUTE) } })).toBe('autostop');
  });

  it('shows a person if nothing was due', () => {
    expect(kindWith({})).toBe(undefined);
  });

  it('shows a person if the workspace is unknown or workspaces were not read', () => {
    expect(foreseenIn(anOrganization({ workspaces: reading([]), templates: reading([]) }))(job)).toBe(
      undefined,
    );
    expect(foreseenIn(anOrganization())(job)).toBe(undefined);
  });
});

describe('the arrivals of a tag set', () => {
  const gpu = { cluster: 'gpu' };

  it('have the time of the latest unforeseen build', () => {
    const times = [3, 1, 2].map((hours) => ago(hours * HOUR));
    const foreseen = { tags: gpu, reason: 'autostart', metadata: { workspace_id: 'w' } };
    const { arrivals } = deriveRecord(
      recorded([
        buildAt(ago(MINUTE), 60, foreseen),
        ...times.map((at) => buildAt(at, 60, { tags: gpu })),
        buildAt(ago(5 * HOUR)),
      ]),
    );
    expect([...arrivals.keys()].toSorted()).toEqual([tagKey(gpu), tagKey({})].toSorted());
    expect(arrivals.get(tagKey(gpu))?.lastAt).toBe(ago(HOUR));
    expect(arrivals.get(tagKey({}))?.lastAt).toBe(ago(5 * HOUR));
  });

  it('change when the workspaces are read anew', () => {
    const job = aJob({ id: jobId('build'), metadata: { workspace_id: 'w' } });
    const recentJobs = reading([job]);
    const withReason = (reason: string): boolean => {
      const latest_build = { reason, job: { id: jobId('build'), status: 'running' } };
      const workspaces = reading([aWorkspace({ id: 'w', latest_build })]);
      const { arrivals } = deriveRecord(anOrganization({ recentJobs, workspaces }));
      return arrivals.get(tagKey({}))?.lastAt !== undefined;
    };
    expect(['initiator', 'autostart', 'initiator'].map(withReason)).toEqual([true, false, true]);
  });
});

describe('durationsOf', () => {
  const like = {
    type: 'workspace_build',
    tags: {},
    metadata: { template_id: 't', workspace_build_transition: 'start' },
  };
  const builds = (count: number, seconds: number, given: Partial<Job> = {}): readonly Job[] =>
    Array.from({ length: count }, () => buildAt(ago(HOUR), seconds, { metadata: like.metadata, ...given }));
  const durationsIn = (...jobs: readonly Job[]): readonly number[] =>
    deriveRecord(recorded(jobs)).durationsOf(like);

  it('returns durations of the same template and transition', () => {
    const stops = builds(9, 10, { metadata: { template_id: 't', workspace_build_transition: 'stop' } });
    expect(durationsIn(...stops, ...builds(5, 90))).toEqual([90, 90, 90, 90, 90].map((s) => s * SECOND));
  });

  it('returns durations of the same tags if the template has too few', () => {
    const others = builds(5, 40, { metadata: { template_id: 'u', workspace_build_transition: 'start' } });
    expect(durationsIn(...others, ...builds(4, 90))).toHaveLength(9);
  });

  it('returns nothing if too few jobs are similar', () => {
    expect(durationsIn(...builds(4, 90))).toEqual([]);
    expect(
      durationsIn(...builds(9, 90, { type: 'template_version_import', tags: { z: '9' }, metadata: null })),
    ).toEqual([]);
  });

  it('returns durations of successful builds, from start to end', () => {
    const failed = builds(9, 1, { status: 'failed' });
    const unfinished = builds(9, 1, { status: 'running', completed_at: null });
    const negative = [...builds(9, -1), ...builds(9, 0)];
    const waited = builds(5, 60, { created_at: ago(3 * HOUR) });
    expect(durationsIn(...failed, ...unfinished, ...negative, ...waited)).toEqual(
      Array<number>(5).fill(60 * SECOND),
    );
  });
});

it('derives the record anew if the templates differ', () => {
  const templates = reading([aTemplate()]);
  const first = recorded([buildAt(ago(HOUR))]);
  expect(deriveRecord({ ...first })).toBe(deriveRecord(first));
  expect(deriveRecord({ ...first, templates })).not.toBe(deriveRecord(first));
});

it('has no arrivals and no durations without a record', () => {
  const record = deriveRecord(anOrganization());
  expect(record.arrivals.size).toBe(0);
  expect(record.durationsOf(aJob())).toEqual([]);
});
