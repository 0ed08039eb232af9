/**
 * People with working hours, schedules and new template versions; docs/backtest.md has assumptions
 * and sources. The same seed gives the same trace, and a longer one begins with the shorter one.
 */
import { type EpochMs, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { Random } from '../../../world/base/random.ts';
import { EXECUTOR_KINDS, executorTick, type Outage, type Trace, type TraceJob } from '../trace.ts';
import { addBursts } from './bursts.ts';
import { drawSeconds, exponential, poisson, weighted } from './draws.ts';
import { contextInto, type GeneratorContext } from './generator-context.ts';
import { type LocalDay, localDay, midnight, plusDays } from './local-day.ts';
import { drawPeople, type Person } from './people.ts';
import type { PeopleGroup, Scenario, Template } from './scenario.ts';
import { addPushes, schedulePrebuilds } from './template-jobs.ts';
import { addPersonDay } from './workday.ts';

type GenerateOptions = { readonly seed: number; readonly days: number };

/** Throws BacktestError if the scenario names an unknown template, or the time zone skips a day. */
export function generateTrace(scenario: Scenario, options: GenerateOptions): Trace {
  const { seed, days } = options;
  const { name, timezone, startSeconds, from: firstDay } = scenario;
  const from = midnight(timezone, firstDay);
  const to = midnight(timezone, plusDays(firstDay, days));
  const outages = plannedOutages(scenario, firstDay).filter(({ at }) => at < to);
  const jobs = afterOutages(generateJobs(scenario, firstDay, options), outages, new Random(seed + 1))
    .map(atFullMinute)
    .filter(({ at }) => from <= at && at < to)
    .sort((a, b) => a.at - b.at);
  return { name, from, to, timezone, outages, startSeconds, jobs };
}

/** Jobs of coderd's executor are due at its next run, at a full minute. Exported traces have them so too. */
function atFullMinute(job: TraceJob): TraceJob {
  if (!EXECUTOR_KINDS.has(job.kind)) return job;
  return { ...job, at: executorTick(job.at) };
}

/** From the day before, as some workspaces run already, to the day after, which begins earlier elsewhere. */
function generateJobs(
  scenario: Scenario,
  firstDay: string,
  { seed, days }: GenerateOptions,
): readonly TraceJob[] {
  const jobs: TraceJob[] = [];
  const context = contextInto(jobs, new Random(seed));
  const templates = new Map(scenario.templates.map((template) => [template.name, template]));
  const people = scenario.groups.flatMap((group) => drawPeople(group, templates, context));
  for (let day = -1; day <= days; day++) {
    addDate(plusDays(firstDay, day), scenario, people, context);
  }
  for (const { workspace } of people) workspace.isRunning(Number.POSITIVE_INFINITY);
  return jobs;
}

function addDate(
  date: string,
  scenario: Scenario,
  people: readonly Person[],
  context: GeneratorContext,
): void {
  const days = new Map<string, LocalDay>();
  const dayIn = (timezone: string): LocalDay => {
    const day = days.get(timezone) ?? localDay(timezone, date);
    days.set(timezone, day);
    return day;
  };
  for (const template of scenario.templates) schedulePrebuilds(template, dayIn(template.timezone), context);
  const pushes = scenario.templates.flatMap((template) =>
    addPushes(template, dayIn(template.timezone), context),
  );
  for (const person of people) addPersonDay(person, dayIn(person.group.timezone), pushes, context);
  for (const bursts of scenario.bursts ?? [])
    addBursts(bursts, scenario.templates, dayIn(scenario.timezone), context);
  for (const group of scenario.groups)
    addDormancyStops(group, scenario.templates, dayIn(group.timezone), context);
}

/** Assumption: the share of accounts whose unused workspace coderd stops or deletes, per day. */
const FORGOTTEN_A_DAY = 0.0004;

function addDormancyStops(
  group: PeopleGroup,
  templates: readonly Template[],
  day: LocalDay,
  context: GeneratorContext,
): void {
  const { random, submit, nameWorkspace } = context;
  for (let left = poisson(random, group.users * FORGOTTEN_A_DAY); left > 0; left--) {
    const name = weighted(random, group.templates);
    const template = templates.find((it) => it.name === name);
    if (template !== undefined)
      submit('dormancy', template, day.at(random.between(900, 1200)), drawSeconds(random, template.stop), {
        workspace: nameWorkspace(),
        transition: 'stop',
      });
  }
}

function plannedOutages({ outages, timezone }: Scenario, firstDay: string): readonly Outage[] {
  return outages.map(({ day, minute, seconds }) => {
    const at: EpochMs = localDay(timezone, plusDays(firstDay, day)).at(minute);
    return { at, seconds };
  });
}

/** Assumption: the mean time until people notice that coderd is back. */
const NOTICED_AFTER_MS = 90_000;
const LATEST_MS = 900_000;
/** coderd's own loops run once a minute. */
const LOOP_MS = 60_000;

function afterOutages(
  jobs: readonly TraceJob[],
  outages: readonly Outage[],
  random: Random,
): readonly TraceJob[] {
  return jobs.map((job) => {
    const outage = outages.find(({ at, seconds }) => at <= job.at && job.at < plusMs(at, seconds * 1000));
    if (outage === undefined) return job;
    const end = plusMs(outage.at, outage.seconds * 1000);
    return { ...job, at: plusMs(end, delayMs(job, random)) };
  });
}

function delayMs({ kind }: TraceJob, random: Random): number {
  const isByHand = kind === 'user' || kind === 'import';
  const ms = isByHand ? Math.min(LATEST_MS, exponential(random, NOTICED_AFTER_MS)) : LOOP_MS;
  return Math.ceil(ms / 1000) * 1000;
}
