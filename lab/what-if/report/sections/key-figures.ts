/** The key figures of the autoscaler's run, each beside the figure of the static fleet. */
import { type Backtest, type Figures, lostJobs, type PolicyRun } from '../../replay/result.ts';
import { estimateOf } from '../parts/figure.ts';
import { bestRivalOf, staticFleetOf } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, estimateText, priceText, seconds, share } from '../parts/numbers.ts';

export function keyFigures(backtest: Backtest): Html {
  const [ours] = backtest.runs;
  if (ours === undefined) return html``;
  const fleet = staticFleetOf(backtest);
  return html`<dl class="key">${cards(ours, backtest).map(
    ({ value, what, of, more }) =>
      html`<div><dt>${what}</dt><dd class="value">${value}</dd>${fleet && of ? line(`${of(fleet)} with the static fleet`) : ''}${more ? line(more) : ''}</div>`,
  )}</dl>`;
}

const line = (text: string): Html => html`<dd>${text}</dd>`;

type Card = {
  readonly value: string | Html;
  readonly what: string;
  readonly of?: (fleet: PolicyRun) => string;
  readonly more?: string | undefined;
};

function cards(ours: PolicyRun, backtest: Backtest): readonly Card[] {
  const { dollars: cost, waitOfPeople: wait, tasks } = ours.figures;
  const rival = bestRivalOf(backtest);
  return [
    {
      value: dollars(cost.tasks),
      what: 'tasks, launches and the autoscaler itself',
      of: ({ figures }) => dollars(figures.dollars.tasks),
    },
    {
      value: dollars(cost.total),
      what: `total, with waiting at ${priceText(backtest.settings.valueOfMinute)} a minute`,
      of: ({ figures }) => dollars(figures.dollars.total),
      more:
        rival && rival.policy !== 'static'
          ? `${dollars(rival.figures.dollars.total)} with ${rival.title}`
          : undefined,
    },
    ...(wait.jobs === 0 ? [] : waitCards(ours)),
    {
      value: share(busyShare(tasks)),
      what: 'of the task time is busy',
      of: ({ figures }) => share(busyShare(figures.tasks)),
    },
    {
      value: count(lostJobs(ours.figures)),
      what: 'jobs lost',
      of: ({ figures }) => count(lostJobs(figures)),
      more: worst(backtest.runs),
    },
  ];
}

const waitCards = ({ figures, estimates }: PolicyRun): readonly Card[] => [
  {
    value: estimateOf(estimates.p95WaitS, seconds),
    what: 'p95 wait of people',
    of: (fleet) => estimateText(fleet.estimates.p95WaitS, seconds),
    more: `${estimateText(estimates.meanWaitS, seconds)} on average`,
  },
  {
    value: share(figures.waitOfPeople.over60s),
    what: 'of these waits are over a minute',
    of: (fleet) => share(fleet.figures.waitOfPeople.over60s),
  },
];

const busyShare = ({ hours, busyHours }: Figures['tasks']): number => (hours === 0 ? 0 : busyHours / hours);

/** The most jobs that another policy lost, and that policy. Undefined: none, or the static fleet. */
function worst(runs: readonly PolicyRun[]): string | undefined {
  const [most] = runs.slice(1).toSorted((a, b) => lostJobs(b.figures) - lostJobs(a.figures));
  if (most === undefined || most.policy === 'static' || lostJobs(most.figures) === 0) return undefined;
  return `${count(lostJobs(most.figures))} with ${most.title}`;
}
