/**
 * Who submitted the jobs that wait for a pool at its maximum, and of which templates. One account may fill a pool by
 * mistake: then its jobs are to be cancelled, and no limit is to be raised.
 */
import { pendingByTags } from '../demand/demand.ts';
import { PREBUILDS_USER } from '../demand/record.ts';
import { by } from '../model/collections.ts';
import { type Finding, isAtMax, type PoolPlan, type SubmittedBy } from '../model/plan.ts';
import type { Job, OrganizationReadings, Snapshot } from '../model/snapshot.ts';
import { tagKey } from '../model/tags.ts';

const MOST_NAMED = 3;
/** So many of the jobs, and at least half of them: the account fills the pool. */
const LEAST_TO_FILL = 5;

/** Adds `by` to the findings about jobs that wait for a pool at its maximum. */
export function withSubmitters(
  findings: readonly Finding[],
  pools: readonly PoolPlan[],
  { coder }: Snapshot,
): readonly Finding[] {
  const full = new Set<unknown>(pools.filter(isAtMax).map(({ name }) => name));
  return findings.map((finding) => {
    if (finding.code !== 'jobs-waiting' && finding.code !== 'jobs-about-to-fail') return finding;
    const organization = coder.organizations.find(({ name }) => name === finding.organization);
    if (organization === undefined || !full.has(finding.pool)) return finding;
    const jobs = pendingByTags(organization).get(tagKey(finding.tags)) ?? [];
    return { ...finding, by: submittedBy(jobs, organization) };
  });
}

function submittedBy(jobs: readonly Job[], { workspaces, templates }: OrganizationReadings): SubmittedBy {
  const accountOf = ({ initiator_id: id }: Job): string => {
    if (id === PREBUILDS_USER) return 'prebuilds';
    const own = workspaces?.items.find(({ owner_id }) => owner_id === id);
    return own?.owner_name || id || 'unknown';
  };
  const templateOf = ({ metadata, type }: Job): string => {
    const { template_id: id, template_name: name } = metadata ?? {};
    return name || templates?.items.find((template) => template.id === id)?.name || id || type;
  };
  const accounts = counted(jobs.map(accountOf));
  const [first] = accounts;
  const fills = first !== undefined && first.jobs >= LEAST_TO_FILL && 2 * first.jobs >= jobs.length;
  return {
    accounts: accounts.slice(0, MOST_NAMED),
    templates: counted(jobs.map(templateOf)).slice(0, MOST_NAMED),
    filledBy: fills && first.name !== 'prebuilds' ? first.name : null,
  };
}

/** The most frequent first, then by name. */
function counted(names: readonly string[]): SubmittedBy['accounts'] {
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, alike]) => ({ name, jobs: alike.length }))
    .toSorted(
      by(
        ({ jobs }) => -jobs,
        ({ name }) => name,
      ),
    );
}
