import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Finding } from '../../../lambda/decision/model/plan.ts';
import type { Job } from '../../../lambda/decision/model/snapshot.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { rareMetrics } from '../../../lambda/telemetry/look-metrics.ts';
import {
  aConfig,
  ago,
  aJob,
  anOrganization,
  aPool,
  aSnapshot,
  daemonId,
  HOUR,
  MINUTE,
  reading,
} from '../../support/parts.ts';
import { table } from '../../support/table.ts';

/** A job that coderd failed ten minutes ago, after half an hour. */
const lost = (given: Partial<Job> = {}): Job =>
  aJob({
    status: 'failed',
    created_at: ago(41 * MINUTE),
    started_at: ago(10 * MINUTE),
    completed_at: ago(10 * MINUTE),
    metadata: { workspace_name: 'dev' },
    ...given,
  });

const planOf = (...jobs: readonly Job[]) => {
  const organizations = [anOrganization({ recentJobs: reading(jobs) })];
  return decide(aSnapshot({ organizations }), aConfig(aPool()));
};
const told = (...jobs: readonly Job[]): readonly Finding[] =>
  planOf(...jobs).findings.filter(({ code }) => code === 'jobs-never-started');

const ROWS = table<{ readonly job: Job; readonly told: number; readonly because: string }>`
  job                                         | told | because
  ${lost()}                                   | ${1} | no daemon took it
  ${lost({ type: 'template_version_import' })} | ${1} | an import of a template is lost too
  ${lost({ completed_at: ago(HOUR - 1) })}    | ${1} | it was less than an hour ago
  ${lost({ completed_at: ago(HOUR) })}        | ${0} | it was an hour ago
  ${lost({ worker_id: daemonId('d') })}       | ${0} | a daemon took it, and the build failed
  ${lost({ status: 'canceled' })}             | ${0} | somebody cancelled it
  ${lost({ canceled_at: ago(20 * MINUTE) })}  | ${0} | somebody cancelled it before
  ${lost({ completed_at: null })}             | ${0} | its end is unknown
`;

describe('a job that coderd has failed', () => {
  it.each(ROWS)('counts $told as lost: $because', ({ job, told: expected }) => {
    expect(told(job)).toHaveLength(expected);
  });

  it('is told with others of its tags, the times, the workspaces and the pool', () => {
    const [other, first] = told(
      lost(),
      lost({ completed_at: ago(5 * MINUTE), metadata: { workspace_name: 'ada' } }),
      lost({ tags: { gpu: 'yes' }, metadata: null }),
    );
    expect(first).toMatchObject({ jobs: 2, workspaces: ['ada', 'dev'], pool: 'cpu', waitedMs: 36 * MINUTE });
    expect(first && sentenceOf(first)).toBe(
      'organization "default", tags (untagged): coderd failed 2 jobs from 20 November 2026 08:50:00 UTC to 20 November 2026 08:55:00 UTC, because no daemon took them in 36 min. Pool "cpu" has these tags. Mend the cause, then start them again: ada, dev',
    );
    expect(other && sentenceOf(other)).toBe(
      'organization "default", tags gpu=yes: coderd failed 1 job at 20 November 2026 08:50:00 UTC, because no daemon took it in 31 min. No pool has these tags. Mend the cause, then start it again',
    );
  });

  it('is in the metric, which has no value without one', () => {
    expect(rareMetrics(planOf(lost(), lost(), lost({ tags: { gpu: 'yes' } }))).LostJobs).toBe(3);
    expect(rareMetrics(planOf()).LostJobs).toBeUndefined();
  });
});
