import { describe, expect, it } from 'vitest';
import type { Assigned } from '../../../lambda/decision/assign/assignment.ts';
import type { Offer } from '../../../lambda/decision/assign/offer.ts';
import { deriveDemand, failsAt, type TagGroup } from '../../../lambda/decision/demand/demand.ts';
import type { OrganizationId } from '../../../lambda/decision/model/brands.ts';
import type { Served } from '../../../lambda/decision/model/plan.ts';
import { normalizeTags } from '../../../lambda/decision/model/tags.ts';
import { waitingFindings } from '../../../lambda/decision/report/waiting.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aSnapshot,
  jobId,
  MINUTE,
  poolName,
  reading,
} from '../../support/parts.ts';

const tags = { cluster: 'gpu' };

const offerOf = (served: Served, pool: string | null = 'gpu'): Offer => ({
  organizationId: 'org-default' as OrganizationId,
  pool: pool === null ? null : poolName(pool),
  tags: normalizeTags(tags),
  served,
  places: 9,
  price: 0,
  bounds: { due: 0, prebuilds: 99, launchesStock: true, price: 0 },
});

function findings(agesMs: readonly number[], served: readonly Served[]) {
  const jobs = agesMs.map((age, index) => aJob({ id: jobId(`j${index}`), tags, created_at: ago(age) }));
  const snapshot = aSnapshot({ organizations: [anOrganization({ jobs: reading(jobs) })] });
  const [group] = deriveDemand(snapshot);
  if (group === undefined) throw new Error('no group');
  // one job for each offer
  const assigned: readonly Assigned<TagGroup>[] = served.map((how) => ({
    group,
    offer: offerOf(how),
    jobs: 1,
  }));
  return waitingFindings({ assigned, unserved: [] }, snapshot, aConfig());
}

describe('jobs that wait longer than alertAfter', () => {
  it.each<{ scenario: string; ages: readonly number[]; expected: number | undefined }>([
    { scenario: 'for just that long', ages: [5 * MINUTE], expected: undefined },
    { scenario: 'for a moment longer', ages: [5 * MINUTE + 1], expected: 1 },
    { scenario: 'two of three', ages: [6 * MINUTE, 9 * MINUTE, MINUTE], expected: 2 },
  ])('are $expected for $scenario', ({ ages, expected }) => {
    const [found] = findings(
      ages,
      ages.map(() => 'by-free'),
    );
    expect(found && 'jobs' in found ? found.jobs : undefined).toBe(expected);
  });

  it('are reported once, with the oldest job and the pool of the first', () => {
    expect(findings([6 * MINUTE, 9 * MINUTE], ['by-launch', 'when-there-is-room'])).toEqual([
      {
        code: 'jobs-waiting',
        organization: 'default',
        tags,
        jobs: 2,
        oldest: '2026-11-20T08:51:00.000Z',
        pool: 'gpu',
      },
    ]);
  });

  it('are reported while they wait for a daemon that the autoscaler does not own', () => {
    const snapshot = aSnapshot({
      organizations: [anOrganization({ jobs: reading([aJob({ created_at: ago(6 * MINUTE) })]) })],
    });
    const assigned = deriveDemand(snapshot).map((group) => ({
      group,
      offer: offerOf('by-busy', null),
      jobs: 1,
    }));
    expect(waitingFindings({ assigned, unserved: [] }, snapshot, aConfig())).toMatchObject([{ pool: null }]);
  });
});

it.each([
  { version: 'v2.22.9', expected: null },
  { version: 'v2.23.0', expected: '2026-11-20T09:29:00.000Z' },
  { version: null, expected: '2026-11-20T09:29:00.000Z' },
])('failsAt of a job of one minute on $version is $expected', ({ version, expected }) => {
  expect(failsAt(ago(MINUTE), aSnapshot({ version }))).toBe(expected);
});
