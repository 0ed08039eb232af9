/** One sentence for whoever reads only one: what it costs and who waits. */
import type { Backtest, Bound, PolicyRun } from '../backtest/result.ts';
import { comparison, count, dollars, oneDecimal, seconds } from './numbers.ts';
import { lengthLabel } from './wall-clock.ts';

export function headlineOf(backtest: Backtest): string {
  const [ours] = backtest.runs;
  if (ours === undefined) return `${jobsOf(backtest)}: no policy was run`;
  const fleet = staticFleetOf(backtest);
  const costs = [...againstFleet(ours, fleet), ...againstForesight(ours, foresightOf(backtest))];
  const cost = `${jobsOf(backtest)} cost ${dollars(ours.figures.dollars.tasks)} with the autoscaler`;
  return `${[cost, ...costs].join(', ')}; ${waits(ours, fleet)}, and ${losses(ours)}`;
}

/** What others are measured against: the fleet that never changes. */
export const staticFleetOf = ({ runs }: Backtest): PolicyRun | undefined =>
  runs.find(({ policy }) => policy === 'static');

/** The least cost at which nobody waits; where it is not known, the busy hours. */
export const foresightOf = ({ bounds }: Backtest): Bound | undefined =>
  bounds.find(({ bound }) => bound === 'clairvoyant') ?? bounds[0];

const jobsOf = (backtest: Backtest): string =>
  `${count(backtest.trace.jobs)} jobs in ${lengthLabel(backtest)}`;

function againstFleet(ours: PolicyRun, fleet: PolicyRun | undefined): readonly string[] {
  if (fleet === undefined || fleet.figures.dollars.tasks === 0) return [];
  const { tasks } = fleet.figures.dollars;
  const much = comparison(ours.figures.dollars.tasks, tasks);
  return [`${much}${much.endsWith('as much') ? ' as' : ' than'} the ${fleet.title} (${dollars(tasks)})`];
}

function againstForesight(ours: PolicyRun, bound: Bound | undefined): readonly string[] {
  if (bound === undefined || bound.dollars === 0) return [];
  const times = oneDecimal(ours.figures.dollars.tasks / bound.dollars);
  return [`${times} times the least possible in hindsight (${dollars(bound.dollars)})`];
}

function waits(ours: PolicyRun, fleet: PolicyRun | undefined): string {
  const own = `one in twenty people waits ${seconds(ours.figures.waitOfPeople.p95S)} or longer`;
  return fleet === undefined ? own : `${own} (${seconds(fleet.figures.waitOfPeople.p95S)} with the fleet)`;
}

function losses({ figures: { jobs } }: PolicyRun): string {
  const lost = [
    { jobs: jobs.killed, how: 'killed' },
    { jobs: jobs.reaped, how: 'given up after 30 min' },
    { jobs: jobs.unserved, how: 'not done at the end' },
  ].filter((each) => each.jobs > 0);
  if (lost.length === 0) return 'no job is lost';
  return lost.map((each) => `${count(each.jobs)} ${each.jobs === 1 ? 'is' : 'are'} ${each.how}`).join(', ');
}
