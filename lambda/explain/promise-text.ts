/** Formats the promised starts as sentences for people. */
import { groupsBy, sum } from '../decision/model/collections.ts';
import type { NoPromise, PendingJob, Promises } from '../decision/model/promise.ts';
import { SECOND_MS } from '../decision/model/units.ts';
import { POLL_MS } from '../decision/supply/rows/daemons.ts';
import { ageText, some, tagText, timeText } from './format.ts';

/** Jobs whose start is unknown for the same reason share a line. Unschedulable ones have a section. */
export function promiseLines(
  { pendingJobs, pendingJobsLeftOut }: Promises,
  { takenAt, most }: { readonly takenAt: string; readonly most: number },
): readonly string[] {
  const jobs = pendingJobs.filter(({ why }) => why !== 'unschedulable');
  const groups = groupsBy(jobs, lineOf);
  const more = sum(groups.slice(most), (group) => group.length) + pendingJobsLeftOut;
  const lines = groups.slice(0, most).map((group) => groupSentence(group, takenAt));
  const listed = pendingJobsLeftOut > 0 ? `the first ${pendingJobs.length}` : 'them';
  return more > 0 ? [...lines, `and ${some(more, 'job')} more; --json has ${listed}`] : lines;
}

/** Jobs with the same result share a line. */
function lineOf({ id, organization, tags, startsAt, why }: PendingJob): string {
  return startsAt === null ? JSON.stringify([organization, tagText(tags), why]) : id;
}

function groupSentence(group: readonly [PendingJob, ...PendingJob[]], takenAt: string): string {
  const [job] = group;
  if (group.length === 1) return promiseSentence(job, takenAt);
  return `${some(group.length, 'job')} of organization "${job.organization}" ${tagsOf(job)}: ${startText(job, takenAt)}`;
}

/** `job 1a2b3c4d of alice/dev (untagged): starts in about 40 s, in most cases within 95 s`. */
export function promiseSentence(job: PendingJob, takenAt: string): string {
  const of = job.workspace === null ? ` of organization "${job.organization}"` : ` of ${job.workspace}`;
  return `job ${job.id.slice(0, 8)}${of} ${tagsOf(job)}: ${startText(job, takenAt)}`;
}

function tagsOf({ tags }: PendingJob): string {
  return Object.keys(tags).length === 0 ? tagText(tags) : `(tags ${tagText(tags)})`;
}

/** The longest time that reads as now. */
const AT_ONCE_SECONDS = 3;

/** `starts in about 5 min, in most cases within 15 min, depending on 3 running builds`. */
export function startText(job: PendingJob, takenAt: string): string {
  const { startsAt, why, failsAt, runningBuilds, leftTo, isPolled } = job;
  if (leftTo !== undefined)
    return `start unknown: it is left to stack ${leftTo.peer} until ${timeText(leftTo.until)}`;
  if (startsAt === null) return `start unknown: ${why === null ? 'no reason is known' : WHY[why]}`;
  if (isPolled) return `an idle daemon takes it within ${POLL_MS / SECOND_MS} s`;
  const inSeconds = (time: string): number => (Date.parse(time) - Date.parse(takenAt)) / 1000;
  const [p50, p95] = [inSeconds(startsAt.p50), inSeconds(startsAt.p95)];
  if (p95 <= AT_ONCE_SECONDS) return 'starts now';
  const fails = failsAt === null ? Number.POSITIVE_INFINITY : inSeconds(failsAt);
  const unless = fails < p95 ? `, unless coderd fails it first, in ${ageText(fails)}` : '';
  const most = ageText(p50) === ageText(p95) ? '' : `, in most cases within ${ageText(p95)}`;
  const on = runningBuilds === 0 ? '' : `, depending on ${some(runningBuilds, 'running build')}`;
  return `starts in about ${ageText(p50)}${most}${on}${unless}`;
}

const WHY: Readonly<Record<NoPromise, string>> = {
  unschedulable: 'no pool and no daemon can run it',
  'left-to-peer': 'another stack launches for it',
  'pool-held': 'a person has paused or pinned its pool',
  'readings-in-doubt': 'a list is incomplete or contradicts another one (see the findings)',
  'license-missing': 'coderd has no license for external daemons, so no new daemon can connect',
  'starts-failing': 'tasks of its pool do not start as expected',
  'daemon-may-have-left':
    'the free daemon that fits may have left: coderd has not seen it for a minute, or it does not take the job',
  'build-length-unknown': 'it waits for builds, and finished builds do not show how long these take',
  'no-room': 'it waits for room within the limits',
  'fails-first': 'no daemon is free within 30 minutes, and coderd then fails jobs that wait',
};
