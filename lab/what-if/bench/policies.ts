/** The autoscaler beside the other policies, each with the settings that are best for the trace and the price. */
import { sum } from '../../../lambda/decision/model/collections.ts';
import { BASELINES } from '../policies/index.ts';
import type { Policy, PolicySettings } from '../policies/policy.ts';
import { ratioOf, ratioText } from './ratio.ts';
import {
  type Bench,
  CELL_HEADS,
  cellsOf,
  daysAt,
  ownRuns,
  PRICES,
  type Runs,
  runsOf,
  type Subject,
} from './runs.ts';
import type { BenchTable } from './table.ts';

const HEADS = ['total $', 'ours / best', 'without itself', 'first day', ...CELL_HEADS];

export async function comparePolicies(subjects: readonly Subject[], bench: Bench): Promise<BenchTable> {
  const rows: (readonly string[])[] = [];
  for (const subject of subjects) {
    process.stderr.write(`${subject.trace.name}: ${subject.trace.jobs.length} jobs\n`);
    rows.push(...(await rowsOf(subject, bench)));
  }
  return {
    columns: [
      ...['trace', '$/min', 'policy'].map((head) => ({ head, align: 'left' as const })),
      ...HEADS.map((head) => ({ head, align: 'right' as const })),
    ],
    rows,
    notes: [
      'total $: tasks, launches, the autoscaler itself, waiting people and failed jobs',
      'ours / best: of the totals, the best of the others, with the 95 % interval for other such days; first day: of that day',
      'without itself: as ours / best, if the autoscaler itself cost nothing, as the others do here',
      'mean, p95: waits of people; lost: jobs that were killed, given up or never run',
    ],
  };
}

type Tried = { readonly settings: PolicySettings; readonly runs: Runs };

async function rowsOf(subject: Subject, bench: Bench): Promise<readonly (readonly string[])[]> {
  const own = PRICES.map((price) => ownRuns(subject, price, bench));
  const others = await Promise.all(BASELINES.map((policy) => triedOf(policy, subject, bench)));
  const byPrice = PRICES.map(async (price, at) => {
    const ours = await own[at];
    const named = others.map(({ policy, tried }) => {
      const { settings, runs } = cheapestAt(price, tried);
      return { name: policy.title(settings, subject.config), runs };
    });
    const head = [subject.trace.name, `${price}`];
    const best = cheapestAt(price, named);
    return ours === undefined
      ? []
      : [
          [
            ...head,
            'autoscaler',
            totalAt(price, ours).toFixed(2),
            ...ratiosAt(price, ours, best.runs),
            ...cellsOf(ours),
          ],
          ...named.map(({ name, runs }) => [
            ...head,
            name,
            totalAt(price, runs).toFixed(2),
            ...['', '', ''],
            ...cellsOf(runs),
          ]),
        ];
  });
  return (await Promise.all(byPrice)).flat();
}

async function triedOf(policy: Policy, subject: Subject, bench: Bench) {
  const tried = policy.grid.map(async (settings): Promise<Tried> => {
    return { settings, runs: await runsOf(subject, { policy: policy.id, settings }, bench) };
  });
  return { policy, tried: await Promise.all(tried) };
}

function cheapestAt<T extends { readonly runs: Runs }>(price: number, tried: readonly T[]): T {
  return tried.reduce((best, each) => (totalAt(price, each.runs) < totalAt(price, best.runs) ? each : best));
}

function totalAt(price: number, runs: Runs): number {
  return sum(daysAt(price, runs), (dollars) => dollars);
}

function ratiosAt(price: number, ours: Runs, best: Runs): readonly string[] {
  const [mine, theirs] = [daysAt(price, ours), daysAt(price, best)];
  const ruleAlone = daysAt(price, { ...ours, ownDollars: 0 });
  return [
    ratioText(ratioOf(mine, theirs)),
    ratioText(ratioOf(ruleAlone, theirs)),
    ratioText(ratioOf(mine.slice(0, 1), theirs.slice(0, 1))),
  ];
}
