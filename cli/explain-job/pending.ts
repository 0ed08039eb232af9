/** Explains a job that still waits, from the plan of a live look. */
import type { JobDetails } from '../../lambda/adapters/coderd/job-details.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import type { PromisedPlan } from '../../lambda/decision/model/promise.ts';
import type { OrganizationReadings, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { displayTags, type Tags, tagKey } from '../../lambda/decision/model/tags.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';
import { unservedSentence } from '../../lambda/explain/text.ts';
import type { PendingJob } from './explanation.ts';

export function explainPending(
  job: JobDetails,
  { coder, takenAt }: Snapshot,
  plan: PromisedPlan,
): PendingJob {
  const organization = coder.organizations.find(({ id }) => id === job.organization_id);
  const tags = displayTags(job.tags);
  const isIts = (row: { readonly organization: string; readonly tags: Tags }): boolean =>
    row.organization === organization?.name && tagKey(row.tags) === tagKey(tags);
  const unserved = plan.unserved.find(isIts);
  const alike = pendingLike(job, organization);
  const names = new Set(plan.assignment.filter(isIts).map(({ pool }) => pool));
  return {
    waitedSeconds: Math.max(0, Math.round((takenAt - job.created_at) / 1000)),
    alike: alike.length,
    older: alike.filter(({ created_at }) => created_at < job.created_at).length,
    pools: plan.pools
      .filter(({ name }) => names.has(name))
      .map(({ name, why }) => ({ pool: name, why: why.map(reasonSentence) })),
    start: plan.pendingJobs.find(({ id }) => id === job.id) ?? null,
    unschedulable: unserved === undefined ? null : unservedSentence(unserved, plan.takenAt),
  };
}

function pendingLike(job: JobDetails, organization: OrganizationReadings | undefined) {
  const jobs = unique(organization?.jobs.items ?? [], ({ id }) => id);
  return jobs.filter(({ status, tags }) => status === 'pending' && tagKey(tags) === tagKey(job.tags));
}
