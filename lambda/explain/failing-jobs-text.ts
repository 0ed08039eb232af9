/** Words the finding about jobs that coderd will fail: how many, from when on, and what would serve them. */
import { type FindingOf, IS_MOVABLE, type Limit } from '../decision/model/plan.ts';
import { ageText, some, tagText, timeText } from './format.ts';
import { cancelText } from './submitters-text.ts';

type FailingJobs = FindingOf<'jobs-about-to-fail'>;

export function failingJobsText(finding: FailingJobs): string {
  const { organization, tags, jobs, of, failsAt, assumedMs } = finding;
  const many =
    jobs === of ? some(of, 'pending job') : `about ${Math.min(of - 1, rounded(jobs))} of ${of} pending jobs`;
  const isAssumed = assumedMs !== null && jobs < of;
  const assumed = isAssumed ? `, assuming builds of ${ageText(assumedMs / 1000)}` : '';
  return [
    `organization "${organization}", tags ${tagText(tags)}: coderd will fail ${many} from ${timeText(failsAt)} on${unlessText(finding)}${assumed}`,
    ...cancelText(finding.by),
    ...remedyText(finding),
    'coderd gives pending jobs 30 min',
    ...(isAssumed ? ['Too few of these builds have ended to tell how long they take'] : []),
  ].join('. ');
}

/** Two digits are all that an estimate knows. */
function rounded(count: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}

/** What limits the pool. Null: no words, as it ends with the next start. */
const WORDS: Readonly<Record<Limit, string | null>> = {
  'capped-at-max': 'max',
  'capped-at-max-tasks': 'limits.maxTasks',
  'capped-at-dollars-per-hour': 'limits.dollarsPerHour',
  'capped-at-prebuilds-max-tasks': 'the part of max that prebuilds may use',
  pinned: 'a pin',
  paused: 'a pause',
  'role-untried': null,
  'starts-failing': 'failing starts',
  'placement-failing': 'failing placement',
  'starts-throttled': "ECS's wait",
  'waiting-for-vacant': 'tasks whose daemon never registered',
  'license-missing': "coderd's missing license",
  'no-service': 'its ECS service (see that finding)',
};

const worded = (limits: readonly Limit[]): readonly string[] => limits.flatMap((limit) => WORDS[limit] ?? []);

/** The jobs fail only if what no larger number would move lasts. */
function unlessText({ pool, limits }: FailingJobs): string {
  const holds = worded(limits.filter((limit) => !IS_MOVABLE[limit]));
  return holds.length === 0 ? '' : `, if pool "${pool}" stays limited by ${holds.join(' and ')}`;
}

function remedyText({ pool, limits, tasks }: FailingJobs): readonly string[] {
  const larger = worded(limits.filter((limit) => IS_MOVABLE[limit]));
  if (larger.length < limits.length || larger.length === 0) return [];
  if (tasks === null) return [`More tasks of pool "${pool}" would probably come too late to serve all`];
  if (larger.join() === 'max')
    return [`\`max: ${tasks}\` of pool "${pool}" would serve all, if deployed within 5 min`];
  return [`Pool "${pool}" needs ${some(tasks, 'task')} to serve all, limited by ${larger.join(' and ')}`];
}
