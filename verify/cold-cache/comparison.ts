/** Compares the estimate of the command with the truth of a world. */
import type { Estimate } from '../../cli/cold-cache/interval.ts';
import { readReport } from '../../cli/cold-cache/read-report.ts';
import { type ColdCacheReport, nameOf } from '../../cli/cold-cache/report.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { sum } from '../../lambda/decision/model/collections.ts';
import { InProcessCoderd } from '../../simulator/coderd/routes/in-process.ts';
import { ORGANIZATION } from './options.ts';
import { POOL } from './tasks.ts';
import { type Truth, truthOf } from './truth.ts';
import type { ColdWorld } from './world.ts';

export type Comparison = {
  readonly truth: Truth;
  readonly report: ColdCacheReport;
  /** Each figure of the report that has an interval, with its true value. */
  readonly figures: readonly Figure[];
  readonly requests: number;
};

export type Figure = { readonly what: string; readonly truth: number; readonly estimate: Estimate };

const CONFIG = {
  coder: { url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } },
  limits: { maxTasks: 100 },
  defaults: { image: 'ghcr.io/coder/coder:v2.30.0' },
  pools: [{ name: POOL, organization: ORGANIZATION, tags: {}, key: { secret: 'coder/cpu' }, max: 20 }],
};

/** Runs the command's reading and estimate on a world, without waiting. */
export async function compareWith(world: ColdWorld, sample = 100): Promise<Comparison> {
  let requests = 0;
  const http = new InProcessCoderd(world.model, async (answer) => {
    requests += 1;
    return answer();
  });
  const pace = { perSecond: 50, sleep: async () => {} };
  const { pools } = checkConfig(CONFIG).config;
  const reader = { http, pace, tell: () => {} };
  const report = await readReport(reader, pools, { days: 7, sample, now: world.to });
  const truth = truthOf(world);
  return { truth, report, figures: figuresOf(report, truth), requests };
}

function figuresOf(report: ColdCacheReport, truth: Truth): readonly Figure[] {
  const ofTemplates = report.templates.flatMap(({ template, groups }) => {
    const what = nameOf(report, template);
    const estimate = groups.find(({ group }) => group === 'first')?.longer;
    return estimate === undefined ? [] : [{ what, truth: truth.longer.get(what) ?? 0, estimate }];
  });
  const { month } = report;
  if (month === undefined) return ofTemplates;
  const counted = report.templates.filter((template) => template.month !== undefined);
  const seconds = sum(counted, ({ template }) => truth.monthSeconds.get(nameOf(report, template)) ?? 0);
  return [...ofTemplates, { what: 'month', truth: seconds, estimate: month.seconds }];
}
