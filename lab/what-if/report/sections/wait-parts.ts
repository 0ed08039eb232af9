/** The section of where the wait of people went: a bar for each part, and what makes it shorter. */
import { waitPartAdvice, waitPartName, waitShares } from '../../../../cli/explain/wait-text.ts';
import type { Backtest } from '../../replay/result.ts';
import { cell, rowHead, tableOf, textHead } from '../parts/figure.ts';
import { peopleWaitOf, peopleWaitText, startSharesText } from '../parts/headline.ts';
import { type Html, html } from '../parts/html.ts';
import { jobsLabel, seconds, share } from '../parts/numbers.ts';

/** Empty if nobody waited under the autoscaler. */
export function waitPartsSection(backtest: Backtest): Html {
  const wait = peopleWaitOf(backtest);
  if (wait === undefined) return html``;
  const shares = waitShares(wait.parts);
  const longest = shares[0]?.share ?? 1;
  const rows = shares.map(
    ({ part, ms, share: ofAll }) =>
      html`<tr>${rowHead(waitPartName(part))}<td class="bar" aria-hidden="true"><i style="width:${((ofAll / longest) * 100).toFixed(1)}%"></i></td>${cell(ofAll, share)}${cell(ms / 1000 / wait.jobs, seconds)}<td class="text">${waitPartAdvice(part)}</td></tr>`,
  );
  return html`<section aria-labelledby="waits"><h2 id="waits">Where the wait under the autoscaler went</h2>
<p>${peopleWaitText(wait)} These are ${jobsLabel(wait.jobs)} that people wait for, each from its submission until a daemon took it. The simulation assumes that ${startSharesText()}. The command autoscaler status shows the parts of your real waits.</p>
${tableOf('Where the wait went', ['part', '', 'share', 'mean per job', textHead('what helps')], rows)}</section>`;
}
