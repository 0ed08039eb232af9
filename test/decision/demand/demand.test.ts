import { describe, expect, it } from 'vitest';
import { deriveDemand } from '../../../lambda/decision/demand/demand.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Job } from '../../../lambda/decision/model/snapshot.ts';
import {
  ago,
  aJob,
  anOrganization,
  aSnapshot,
  daemonId,
  jobId,
  reading,
  SECOND,
} from '../../support/parts.ts';

const prebuild = { initiator_id: 'c42fdf75-3097-471c-8c33-fb52454d81c0' };
const gpu = { cluster: 'gpu' };

const demandOf = (...jobs: readonly Partial<Job>[]) =>
  deriveDemand(
    aSnapshot({
      organizations: [
        anOrganization({ jobs: reading(jobs.map((job, index) => aJob({ id: jobId(`j${index}`), ...job }))) }),
      ],
    }),
  );

describe('deriveDemand', () => {
  it.each<{ scenario: string; job: Partial<Job>; isDemand: boolean }>([
    { scenario: 'without a worker', job: {}, isDemand: true },
    { scenario: 'with a worker of null', job: { worker_id: null, completed_at: null }, isDemand: true },
    { scenario: 'that a daemon has acquired', job: { worker_id: daemonId('d') }, isDemand: false },
    { scenario: 'that was cancelled before it began', job: { completed_at: ago(SECOND) }, isDemand: false },
    { scenario: 'that is called running', job: { status: 'running' }, isDemand: false },
  ])('counts $scenario as demand: $isDemand', ({ job, isDemand }) => {
    expect(demandOf(job)).toHaveLength(isDemand ? 1 : 0);
  });
});

describe('the tag groups', () => {
  it('hold the jobs of one tag set, the oldest first', () => {
    const [first, ...others] = demandOf(
      { tags: gpu, created_at: ago(5 * SECOND) },
      { tags: { ...gpu, scope: 'organization', owner: '' }, created_at: ago(9 * SECOND) },
      { tags: gpu, created_at: ago(7 * SECOND) },
    );
    expect(first).toMatchObject({ for: 'people', organization: 'default', tags: gpu, jobs: 3 });
    expect(first?.createdAt).toEqual([ago(9 * SECOND), ago(7 * SECOND), ago(5 * SECOND)]);
    expect(others).toEqual([]);
  });

  it('separate jobs of people from those of coderd and from prebuilds, which come last', () => {
    const [first, second, last] = [9, 5, 1].map((seconds) => ({ created_at: ago(seconds * SECOND) }));
    const byCoderd = (reason: string) => ({ ...second, reason, metadata: { workspace_id: 'w' } });
    const groups = demandOf(
      { ...prebuild, ...first },
      byCoderd('autostop'),
      byCoderd('autostart'),
      last ?? {},
    );
    expect(groups.map((group) => group.for)).toEqual(['autostarts', 'people', 'stops', 'prebuilds']);
  });

  it('are served by the age of the oldest job, and in a fixed order if ages are equal', () => {
    const tagsOf = (...jobs: readonly Partial<Job>[]) => demandOf(...jobs).map(({ tags }) => tags.cluster);
    const young = { tags: { cluster: 'a' }, created_at: ago(SECOND) };
    const old = { tags: { cluster: 'b' }, created_at: ago(9 * SECOND) };
    expect(tagsOf(young, old)).toEqual(['b', 'a']);
    expect(tagsOf({ ...old, created_at: young.created_at }, young)).toEqual(['a', 'b']);
  });

  it('separate two organizations, in a fixed order', () => {
    const data = anOrganization({ id: 'org-data' as OrganizationId, name: 'data', jobs: reading([aJob()]) });
    const own = anOrganization({ jobs: reading([aJob()]) });
    for (const organizations of [
      [data, own],
      [own, data],
    ])
      expect(deriveDemand(aSnapshot({ organizations })).map(({ organization }) => organization)).toEqual([
        'data',
        'default',
      ]);
  });
});
