/** Sentences of the report: the headline, the summary, how sure the figures are, and where the wait of people went. */
import { namedShares, percentText } from '../../../../cli/explain/wait-text.ts';
import type { Estimates } from '../../estimate/estimate.ts';
import { type Backtest, lostJobs, type PeopleWait, type PolicyRun } from '../../replay/result.ts';
import { START_SHARES } from '../../replay/start-latencies.ts';
import { comparison, count, dollars, estimateText, jobsLabel, priceText, seconds } from './numbers.ts';
import { lengthLabel } from './times.ts';

/** The cost, how sure it is, and the comparison with a static fleet; of lost jobs it says so instead. */
export function headlineOf(backtest: Backtest): string {
  const [ours] = backtest.runs;
  if (ours === undefined) return 'No policy ran';
  const monthly = ours.estimates.dollarsPerMonth;
  const month = monthly.range ? ` or ${estimateText(monthly, dollars)} a month` : '';
  const cost = `The autoscaler would have cost ${dollars(ours.figures.dollars.tasks)} in ${lengthLabel(backtest)}${month}`;
  const lost = lostJobs(ours.figures);
  if (lost > 0) return `${cost} and lost ${count(lost)} of ${jobsLabel(backtest.trace.jobs)}`;
  return [cost, ...againstFleet(ours, staticFleetOf(backtest))].join(', ');
}

/** How long people wait, which jobs are lost, which policy has the lowest total, and how sure that is. */
export function summaryOf(backtest: Backtest): string {
  const [ours] = backtest.runs;
  if (ours === undefined) return `${jobsOf(backtest)}.`;
  const lost = losses(ours);
  const service = hasPeople(ours) ? `${waits(ours, staticFleetOf(backtest))}; ${lost}` : lost;
  return `${jobsOf(backtest)}: ${service}. ${inAll(backtest, ours)}. ${rangesText(ours.estimates)}`;
}

/** The reference policy: a static fleet of the best size for this trace. */
export const staticFleetOf = ({ runs }: Backtest): PolicyRun | undefined =>
  runs.find(({ policy }) => policy === 'static');

/** The policy other than the autoscaler with the lowest total: tasks, waiting and failures. */
export function bestRivalOf({ runs: [, ...others] }: Backtest): PolicyRun | undefined {
  return others.toSorted((a, b) => a.figures.dollars.total - b.figures.dollars.total)[0];
}

const hasPeople = ({ figures }: PolicyRun): boolean => figures.waitOfPeople.jobs > 0;

const jobsOf = (backtest: Backtest): string =>
  `${jobsLabel(backtest.trace.jobs)} in ${lengthLabel(backtest)}`;

function againstFleet(ours: PolicyRun, fleet: PolicyRun | undefined): readonly string[] {
  if (fleet === undefined || fleet.figures.dollars.tasks === 0) return [];
  const { tasks } = fleet.figures.dollars;
  return [`${versus(ours.figures.dollars.tasks, tasks)} the ${fleet.title}`];
}

const NONE = seconds(0);

/** With fewer jobs, the 95th percentile is the longest wait or close to it. */
const ENOUGH_FOR_P95 = 20;

function waits(ours: PolicyRun, fleet: PolicyRun | undefined): string {
  const isFew = ours.figures.waitOfPeople.jobs < ENOUGH_FOR_P95;
  const [own, its] = [ours, fleet].map((run) => {
    const { p95S = 0, maxS = 0 } = run?.figures.waitOfPeople ?? {};
    return seconds(isFew ? maxS : p95S);
  });
  const some = isFew ? `people wait ${own} at most` : `5 of 100 jobs of people wait ${own} or longer`;
  const none = isFew ? 'nobody waits' : '95 of 100 jobs of people do not wait';
  const sentence = own === NONE ? none : some;
  if (fleet === undefined) return sentence;
  if (own !== NONE) return `${sentence} (${its} with the fleet)`;
  return `${sentence} (${its === NONE ? 'the same' : `up to ${its}`} with the fleet)`;
}

function losses({ figures: { jobs } }: PolicyRun): string {
  const lost = [
    { jobs: jobs.killed, how: 'killed' },
    { jobs: jobs.reaped, how: 'given up after 30 min' },
    { jobs: jobs.unserved, how: 'never run' },
  ].filter((each) => each.jobs > 0);
  if (lost.length === 0) return 'no job is lost';
  return lost.map((each) => `${count(each.jobs)} ${each.jobs === 1 ? 'is' : 'are'} ${each.how}`).join(', ');
}

/** Which policy has the lowest total. The grid search tuned the other policies for this same total. */
function inAll(backtest: Backtest, ours: PolicyRun): string {
  const own = ours.figures.dollars.total;
  const priced = pricedText(backtest, ours);
  const rival = bestRivalOf(backtest);
  if (rival === undefined || rival.figures.dollars.total === 0)
    return `${priced} the total is ${dollars(own)}`;
  const least = rival.figures.dollars.total;
  const name = rival.policy === 'static' ? `the ${rival.title}` : rival.title;
  const much = comparison(own, least);
  if (much === 'as much') return `${priced} the autoscaler and ${name} cost the same: ${dollars(own)}`;
  if (own < least)
    return `${priced} the autoscaler is cheapest: ${dollars(own)}, ${much} than ${name} (${dollars(least)})`;
  return `${priced} ${name} is cheapest: ${dollars(least)}; the autoscaler costs ${dollars(own)}, ${much}`;
}

/** What the total includes, such as `At $0.10 for each minute that a person waits,`. */
function pricedText({ settings }: Backtest, ours: PolicyRun): string {
  if (hasPeople(ours)) return `At ${priceText(settings.valueOfMinute)} for each minute that a person waits,`;
  return ours.figures.dollars.failures > 0 ? 'With lost jobs,' : 'In total,';
}

/** `87% less than`, `3.2 times as much as`. */
function versus(value: number, other: number): string {
  const much = comparison(value, other);
  return `${much} ${much.endsWith('as much') ? 'as' : 'than'}`;
}

/** What the ranges mean, or why there are none. */
export const rangesText = ({ dollarsPerMonth }: Estimates): string =>
  dollarsPerMonth.range === undefined
    ? 'Fewer than three days show no range for another week.'
    : 'Ranges hold for nine in ten weeks like these days.';

/** The wait of people in the autoscaler's run. Undefined: nobody waited, or the result lacks it. */
export function peopleWaitOf({ runs: [ours] }: Backtest): PeopleWait | undefined {
  const wait = ours?.peopleWait;
  return wait === undefined || namedShares(wait.parts).length === 0 ? undefined : wait;
}

/** `62% of the waiting of people was image pull, 20% launch requested, …`, the longest part first. */
export function peopleWaitText(wait: PeopleWait): string {
  const [first, ...others] = namedShares(wait.parts).map(({ name, share }) => ({
    name,
    of: percentText(share),
  }));
  const parts = [
    `${first?.of} of the waiting of people was ${first?.name}`,
    ...others.map(({ name, of }) => `${of} ${name}`),
  ];
  return `${parts.join(', ')}${missedText(wait)}.`;
}

/** The jobs whose wait is not split, after a semicolon; empty: none. */
function missedText({ jobs, missed }: PeopleWait): string {
  if (missed === 0) return '';
  return `; the wait of ${count(missed)} of ${jobsLabel(jobs)} could not be split and counts as unknown`;
}

/** `idleS 600, minPercent 0 (tuned)`, or `as configured`. */
export function settingsText({ settings, isTuned }: Pick<PolicyRun, 'settings' | 'isTuned'>): string {
  const fields = Object.entries(settings).map(([field, value]) => `${field} ${value}`);
  return `${fields.join(', ') || 'as configured'}${isTuned ? ' (tuned)' : ''}`;
}

export const TUNED = 'tuned: the best of a grid on this trace';

export function startSharesText(): string {
  const { network, imagePull, containerStart } = START_SHARES;
  return `${percentText(network)} of the time until a task is RUNNING is network and placement, ${percentText(imagePull)} image pull and ${percentText(containerStart)} container start`;
}

/** What `dollars.tasks` has, and `dollarsPerMonth` of a month. Only the autoscaler's own run has its own cost. */
export const SPENT = 'tasks, launches, autoscaler';
