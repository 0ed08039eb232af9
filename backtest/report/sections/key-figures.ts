/** The key figures of the autoscaler's run, each beside the figure of the static fleet. */
import {
  type Backtest,
  type Figures,
  lostJobs,
  type PolicyRun,
  type WaitFigures,
} from '../../replay/result.ts';
import { bestRivalOf, foresightOf, staticFleetOf } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { count, dollars, seconds, share } from '../parts/numbers.ts';

export function keyFigures(backtest: Backtest): Html {
  const [ours] = backtest.runs;
  if (ours === undefined) return html``;
  const fleet = staticFleetOf(backtest);
  return html`<dl class="key">${cards(ours.figures, backtest).map(
    ({ value, what, of, more }) =>
      html`<div><dt>${what}</dt><dd class="value">${value}</dd>${fleet && of ? line(`${of(fleet.figures)} with the static fleet`) : ''}${more ? line(more) : ''}</div>`,
  )}</dl>`;
}

const line = (text: string): Html => html`<dd>${text}</dd>`;

type Card = {
  readonly value: string;
  readonly what: string;
  readonly of?: (fleet: Figures) => string;
  readonly more?: string | undefined;
};

function cards(ours: Figures, backtest: Backtest): readonly Card[] {
  const { dollars: cost, waitOfPeople: wait, tasks } = ours;
  const bound = foresightOf(backtest);
  const rival = bestRivalOf(backtest);
  return [
    {
      value: dollars(cost.tasks),
      what: 'Fargate cost',
      of: (fleet) => dollars(fleet.dollars.tasks),
      more: bound && `lower bound without any wait: ${dollars(bound.dollars)}`,
    },
    {
      value: dollars(cost.total),
      what: `total, with waiting at ${dollars(backtest.settings.valueOfMinute)} a minute`,
      of: (fleet) => dollars(fleet.dollars.total),
      more:
        rival && rival.policy !== 'static'
          ? `${dollars(rival.figures.dollars.total)} with ${rival.title}`
          : undefined,
    },
    ...(wait.jobs === 0 ? [] : waitCards(wait)),
    {
      value: share(busyShare(tasks)),
      what: 'of the task time is busy',
      of: (fleet) => share(busyShare(fleet.tasks)),
    },
    {
      value: count(lostJobs(ours)),
      what: 'jobs lost',
      of: (fleet) => count(lostJobs(fleet)),
      more: worst(backtest.runs),
    },
  ];
}

const waitCards = (wait: WaitFigures): readonly Card[] => [
  {
    value: seconds(wait.p95S),
    what: 'p95 wait of people',
    of: (fleet) => seconds(fleet.waitOfPeople.p95S),
    more: `${seconds(wait.meanS)} on average`,
  },
  {
    value: share(wait.over60s),
    what: 'of these waits are over a minute',
    of: (fleet) => share(fleet.waitOfPeople.over60s),
  },
];

const busyShare = ({ hours, busyHours }: Figures['tasks']): number => (hours === 0 ? 0 : busyHours / hours);

/** The most jobs that another policy lost, and that policy. Undefined: none, or the static fleet. */
function worst(runs: readonly PolicyRun[]): string | undefined {
  const [most] = runs.slice(1).toSorted((a, b) => lostJobs(b.figures) - lostJobs(a.figures));
  if (most === undefined || most.policy === 'static' || lostJobs(most.figures) === 0) return undefined;
  return `${count(lostJobs(most.figures))} with ${most.title}`;
}
