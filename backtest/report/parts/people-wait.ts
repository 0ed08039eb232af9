/** Where the wait of people went under the autoscaler, as a sentence. */
import { namedShares, percentText } from '../../../lambda/explain/wait-text.ts';
import type { Backtest, PeopleWait } from '../../replay/result.ts';
import { START_SHARES } from '../../replay/start-latencies.ts';
import { count, jobsLabel } from './numbers.ts';

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

/** The assumption behind the parts of a start. */
export function startSharesText(): string {
  const { network, imagePull, containerStart } = START_SHARES;
  return `${percentText(network)} of the time until a task is RUNNING is network and placement, ${percentText(imagePull)} image pull and ${percentText(containerStart)} container start`;
}
