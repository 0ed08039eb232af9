/** The figure of where the wait of people went: a bar for each part, and what makes it shorter. */
import {
  type WaitShare,
  waitPartAdvice,
  waitPartName,
  waitShares,
} from '../../../../cli/explain/wait-text.ts';
import type { Backtest, PeopleWait } from '../../replay/result.ts';
import { cell, figureOf, fold, rowHead, tableOf, wide } from '../parts/figure.ts';
import { peopleWaitOf, peopleWaitText, startSharesText } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { jobsLabel, seconds, share } from '../parts/numbers.ts';

/** Empty if nobody waited under the autoscaler. */
export function waitPartsFigure(backtest: Backtest): Html {
  const wait = peopleWaitOf(backtest);
  if (wait === undefined) return html``;
  const [longest, ...others] = waitShares(wait.parts);
  return figureOf({
    id: 'wait-parts',
    title: 'Where the wait under the autoscaler went',
    description: `${peopleWaitText(wait)} These are ${jobsLabel(wait.jobs)} that people wait for, each from its submission until a daemon took it. The simulation assumes that ${startSharesText()}. The command autoscaler status shows the parts of your real waits.`,
    chart: wide('Where the wait went', partsTable(wait)),
    tables: html`${longest === undefined ? '' : adviceText(longest)}${others.length === 0 ? '' : fold('Show what helps with the other parts', adviceList(others))}`,
  });
}

function partsTable({ parts, jobs }: PeopleWait): Html {
  const shares = waitShares(parts);
  const longest = shares[0]?.share ?? 1;
  const rows = shares.map(
    ({ part, ms, share: ofAll }) =>
      html`<tr>${rowHead(waitPartName(part))}${bar(ofAll / longest)}${cell(ofAll, share)}${cell(ms / 1000, seconds)}${cell(ms / 1000 / jobs, seconds)}</tr>`,
  );
  return tableOf(html` id="wait-parts-table"`, ['part', '', 'share', 'total', 'mean per job'], rows);
}

/** `length`: 0 to 1. The cells beside it have the figure. */
function bar(length: number): Html {
  return html`<td class="bar" aria-hidden="true"><i style="width:${(length * 100).toFixed(1)}%"></i></td>`;
}

function adviceText({ part }: WaitShare): Html {
  return html`<p class="help">What helps with the longest part, ${waitPartName(part)}: ${waitPartAdvice(part)}.</p>`;
}

function adviceList(shares: readonly WaitShare[]): Html {
  return html`<dl class="meanings">${shares.map(({ part }) => html`<dt>${waitPartName(part)}</dt><dd>${waitPartAdvice(part)}.</dd>`)}</dl>`;
}
