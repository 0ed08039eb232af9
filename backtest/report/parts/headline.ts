/** A few sentences for whoever reads no more: what it costs, how long people wait, and who is cheapest at the price of waiting. */
import type { Backtest, Bound, PolicyRun } from '../../replay/result.ts';
import { comparison, count, dollars, jobsLabel, seconds } from './numbers.ts';
import { lengthLabel } from './wall-clock.ts';

export function headlineOf(backtest: Backtest): string {
  const [ours] = backtest.runs;
  if (ours === undefined) return `${jobsOf(backtest)}: no policy was run`;
  const fleet = staticFleetOf(backtest);
  const costs = againstFleet(ours, fleet);
  const cost = `${jobsOf(backtest)} cost ${dollars(ours.figures.dollars.tasks)} with the autoscaler`;
  const lost = losses(ours);
  const service = hasPeople(ours) ? `${waits(ours, fleet)}; ${lost}` : capitalized(lost);
  return `${[cost, ...costs].join(', ')}. ${service}. ${inAll(backtest, ours)}`;
}

/** What others are measured against: the fleet that never changes, of the size that is the best for this trace. */
export function staticFleetOf({ runs }: Backtest): PolicyRun | undefined {
  const fleets = runs.filter(({ policy }) => policy === 'static');
  return fleets.find(({ isTuned }) => isTuned) ?? fleets[0];
}

/** The least cost at which nobody waits; where it is not known, the busy hours. */
export const foresightOf = ({ bounds }: Backtest): Bound | undefined =>
  bounds.find(({ bound }) => bound === 'clairvoyant') ?? bounds[0];

/** Who comes to the least in all, waiting and failures included, beside the autoscaler. */
export function bestRivalOf({ runs: [, ...others] }: Backtest): PolicyRun | undefined {
  return others.toSorted((a, b) => a.figures.dollars.total - b.figures.dollars.total)[0];
}

/** Whether there are jobs that somebody waits for. */
const hasPeople = ({ figures }: PolicyRun): boolean => figures.waitOfPeople.jobs > 0;

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const jobsOf = (backtest: Backtest): string =>
  `${jobsLabel(backtest.trace.jobs)} in ${lengthLabel(backtest)}`;

function againstFleet(ours: PolicyRun, fleet: PolicyRun | undefined): readonly string[] {
  if (fleet === undefined || fleet.figures.dollars.tasks === 0) return [];
  const { tasks } = fleet.figures.dollars;
  return [`${versus(ours.figures.dollars.tasks, tasks)} the ${fleet.title} (${dollars(tasks)})`];
}

const NONE = seconds(0);

function waits(ours: PolicyRun, fleet: PolicyRun | undefined): string {
  const [own, its] = [ours, fleet].map((run) => seconds(run?.figures.waitOfPeople.p95S ?? 0));
  const said = own === NONE ? '95 of 100 people do not wait' : `5 of 100 people wait ${own} or longer`;
  if (fleet === undefined) return said;
  if (own !== NONE) return `${said} (${its} with the fleet)`;
  return `${said} (${its === NONE ? 'the same' : `up to ${its}`} with the fleet)`;
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

/** Who is cheapest in all, at the user's price of waiting: the one sum by which the others were tuned. */
function inAll(backtest: Backtest, ours: PolicyRun): string {
  const own = ours.figures.dollars.total;
  const priced = pricedText(backtest, ours);
  const rival = bestRivalOf(backtest);
  if (rival === undefined || rival.figures.dollars.total === 0)
    return `${priced} it costs ${dollars(own)} in all`;
  const least = rival.figures.dollars.total;
  const name = rival.policy === 'static' ? `the ${rival.title}` : rival.title;
  const much = comparison(own, least);
  if (much === 'as much') return `${priced} the autoscaler and ${name} cost the same: ${dollars(own)}`;
  if (own < least)
    return `${priced} the autoscaler is cheapest: ${dollars(own)}, ${much} than ${name} (${dollars(least)})`;
  return `${priced} ${name} is cheapest: ${dollars(least)}; the autoscaler costs ${dollars(own)}, ${much}`;
}

/** `At $0.10 for each minute that a person waits,`: what is in the sum. */
function pricedText({ settings }: Backtest, ours: PolicyRun): string {
  if (hasPeople(ours)) return `At ${dollars(settings.valueOfMinute)} for each minute that a person waits,`;
  return ours.figures.dollars.failures > 0 ? 'With lost jobs,' : 'In all,';
}

/** `87% less than`, `3.2 times as much as`. */
function versus(value: number, other: number): string {
  const much = comparison(value, other);
  return `${much} ${much.endsWith('as much') ? 'as' : 'than'}`;
}
