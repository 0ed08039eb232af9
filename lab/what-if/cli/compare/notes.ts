/** What makes the figures of a comparison doubtful, and what they do not include. */
import { priceNotes } from '../../../../cli/shared/cost-text.ts';
import type { Deployment } from '../../../../lambda/config/rules/deployment.ts';
import { isoTime } from '../../../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../../../lambda/decision/model/units.ts';
import { timeText } from '../../../../lambda/explain/format.ts';
import type { ConfigChange } from '../../change/result.ts';
import { priceDate } from '../../replay/prices.ts';
import { rangesText } from '../../report/parts/headline.ts';
import { count, jobsLabel, share } from '../../report/parts/numbers.ts';
import { lengthLabel } from '../../report/parts/times.ts';
import { isMonthly } from '../backtest/amounts.ts';
import type { SettingChange } from './setting-changes.ts';
import { code } from './words.ts';

const WEEK_MS = 7 * DAY_MS;
/** The p95 of fewer jobs rests on five of them. */
const FEW_JOBS = 100;

export function doubtsOf({
  trace,
  seeds,
  fits,
  jobsOfPeople,
  pools,
  estimates,
}: ConfigChange): readonly string[] {
  const unused = pools.filter(({ fitting, state }) => fitting === 0 && state !== 'removed');
  const { from, to, jobs, skipped, outages } = trace;
  const isShort = to - from < WEEK_MS;
  return [
    chanceText(seeds),
    rangesText(estimates.after),
    ...when(
      isShort,
      `The trace covers ${lengthLabel({ trace })}, which is less than a week. ${isMonthly(trace) ? 'The figures of a month assume that all days are like these.' : 'Figures of a month need two days.'}`,
    ),
    ...peopleText(jobsOfPeople),
    ...when(
      unused.length > 0,
      `No job of the trace fits ${unused.map(({ names }) => code(names.at(-1) ?? '')).join(', ')}. The replay says nothing about jobs of ${unused.length === 1 ? 'this pool' : 'these pools'}.`,
    ),
    ...fitsText(fits, jobs),
    ...when(skipped > 0, `${count(skipped)} invalid lines of the trace are left out.`),
    ...outages.map(
      ({ at, seconds }) =>
        `coderd is down for ${seconds} s from ${timeText(isoTime(at))} on, in all replays.`,
    ),
  ];
}

function peopleText(jobs: number): readonly string[] {
  if (jobs === 0) return ['The trace has no jobs that people wait for, so all waits are 0.'];
  const label = jobsLabel(Math.round(jobs));
  return when(jobs < FEW_JOBS, `People wait for only ${label} of the trace, so a few of them determine p95.`);
}

function fitsText({ neither, onlyBefore, onlyAfter }: ConfigChange['fits'], jobs: number): readonly string[] {
  const only = (count: number, side: string, other: string): readonly string[] =>
    when(
      count > 0,
      `Only the configuration ${side} the change has a pool for ${jobsLabel(count)}. The cost and the waits ${other} it do not include them.`,
    );
  return [
    ...when(
      neither > 0,
      `No pool fits ${jobsLabel(neither)} (${share(neither / jobs)}), before or after. The replays leave them out.`,
    ),
    ...only(onlyBefore, 'before', 'after'),
    ...only(onlyAfter, 'after', 'before'),
  ];
}

const when = (holds: boolean, text: string): readonly string[] => (holds ? [text] : []);

function chanceText(seeds: readonly number[]): string {
  if (seeds.length === 1)
    return 'There is only one replay before and one after, so chance is unknown. Add `--seeds 5`.';
  return `Each figure is the mean of ${seeds.length} replays. One replay before and one after have the same jobs and the same seed. ± is the 95 % confidence interval of the mean change: a change within it is “no clear change”. The headline names five figures, so it asks for a clearer change of each. Another week may differ by more.`;
}

export function remarksOf(
  changes: readonly SettingChange[],
  region: string,
  pools: Deployment['pools'],
): readonly string[] {
  const isChanged = (...settings: readonly string[]): boolean =>
    changes.some(({ setting }) => settings.includes(setting));
  return [
    ...when(
      isChanged('cpu', 'memory', 'architecture'),
      'The size of tasks changes the cost only: each build takes as long as in the trace. A larger task may build faster, a smaller one may run out of memory.',
    ),
    ...when(
      isChanged('spot', 'capacity'),
      'Spot changes the cost only: the replay has no interruptions. AWS may stop a Spot task with its build.',
    ),
    ...when(
      isChanged('name', 'organization', 'tags'),
      'The replays begin after the deployment. To remove or rename a pool without killing builds, deploy twice, first with `retiring: true` (docs/upgrade.md).',
    ),
    ...priceNotes(pools).map((note) => `${note}.`),
    `Cost is of tasks, at Fargate's prices of ${region} (${priceDate(region)}). Network, logs and the function are not included.`,
  ];
}
