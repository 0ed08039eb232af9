/**
 * `npm run sim:cold -- [seeds] [sample]`: prints how far the estimates are from the truth of
 * simulated worlds, and how often their intervals contain it.
 */
import { meanOf, percentile } from '../../lambda/decision/model/collections.ts';
import { type Comparison, compareWith, type Figure } from './comparison.ts';
import { coldWeek } from './world.ts';
import { COLD_WORLDS } from './worlds.ts';

const [seeds = 5, sample = 100] = process.argv.slice(2).map(Number);

for (const [name, options] of Object.entries(COLD_WORLDS)) {
  const runs: Comparison[] = [];
  for (let seed = 1; seed <= seeds; seed++)
    runs.push(await compareWith(coldWeek({ seed, ...options }), sample));
  process.stdout.write(`${worldText(name, runs)}\n\n`);
}

function worldText(name: string, runs: readonly Comparison[]): string {
  const all = runs.flatMap(({ figures }) => figures);
  const mean = (of: (run: Comparison) => number): number => Math.round(meanOf(runs.map(of)));
  const builds = `${mean(({ truth }) => truth.builds)} builds, ${mean(({ truth }) => truth.firstBuilds)} first of their task`;
  return [
    `${name}: ${runs.length} weeks of ${builds}; ${mean(({ requests }) => requests)} requests`,
    ...(runs[0]?.figures ?? []).map((figure) => `  week 1, ${figureText(figure)}`),
    `  all weeks, a cold build: ${qualityText(all.filter(({ what }) => what !== 'month'))}`,
    `  all weeks, the month: ${qualityText(all.filter(({ what }) => what === 'month'))}`,
  ].join('\n');
}

function figureText({ what, truth, estimate: { value, low, high } }: Figure): string {
  const unit = what === 'month' ? 's a month' : 's a cold build';
  const [exact, found, least, most] = [truth, value, low, high].map((each) => each.toFixed(1));
  return `${what}: ${exact} ${unit}; estimate ${found} (${least} to ${most})${offText(truth, value)}`;
}

function offText(truth: number, value: number): string {
  return truth === 0 ? '' : `, off by ${percentText((value - truth) / truth)}`;
}

function qualityText(figures: readonly Figure[]): string {
  if (figures.length === 0) return 'too few builds to say';
  const contained = figures.filter(({ truth, estimate: { low, high } }) => low <= truth && truth <= high);
  const errors = figures
    .filter(({ truth }) => truth !== 0)
    .map(({ truth, estimate }) => Math.abs(estimate.value / truth - 1))
    .sort((a, b) => a - b);
  const alarms = figures.filter(({ truth, estimate }) => truth === 0 && estimate.low > 0).length;
  const none = figures.length - errors.length;
  return [
    `${figures.length} figures, ${percentText(contained.length / figures.length)} in their interval`,
    ...(errors.length === 0
      ? []
      : [
          `off by ${percentText(percentile(errors, 0.5))} (median), ${percentText(percentile(errors, 0.95))} (p95)`,
        ]),
    ...(none === 0 ? [] : [`${alarms} false alarms`]),
  ].join('; ');
}

function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
