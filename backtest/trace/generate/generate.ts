/**
 * Made-up traces: people with working hours, schedules, templates with new versions. What is assumed, and what is from public
 * sources: docs/traces.md. The same seed gives the same trace; a longer one begins with the shorter one.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { Random } from '../../../simulator/base/random.ts';
import { EXECUTOR_KINDS, executorTick, type Outage, type Trace, type TraceJob } from '../trace.ts';
import { burstDay } from './bursts.ts';
import { drawSeconds, poisson, weighted } from './draws.ts';
import { type LocalDay, localDay, midnight, plusDays } from './local-day.ts';
import { afterOutages } from './outages.ts';
import { drawPeople, type Person } from './people.ts';
import { schedulePrebuilds } from './prebuilds.ts';
import { pushDay } from './pushes.ts';
import type { Group, Scenario, Template } from './scenario.ts';
import { type Scene, sceneInto } from './scene.ts';
import { liveDay } from './workday.ts';

export type GenerateOptions = {
  readonly seed: number;
  readonly days: number;
  /** The first day, `2026-03-02`. @default the scenario's */
  readonly from?: string;
};

/** A scenario's jobs of some days. */
export function generateTrace(scenario: Scenario, options: GenerateOptions): Trace {
  const { seed, days, from: firstDay = scenario.from } = options;
  const { name, timezone, startSeconds } = scenario;
  const from = midnight(timezone, firstDay);
  const to = midnight(timezone, plusDays(firstDay, days));
  const outages = plannedOutages(scenario, firstDay).filter(({ at }) => at < to);
  const jobs = afterOutages(live(scenario, firstDay, options), outages, new Random(seed + 1))
    .map(atFullMinute)
    .filter(({ at }) => from <= at && at < to)
    .sort((a, b) => a.at - b.at);
  return { name, from, to, timezone, outages, startSeconds, jobs };
}

/** What coderd's executor does by itself is due at its next tick, and is written so: as exported traces have it. */
function atFullMinute(job: TraceJob): TraceJob {
  if (!EXECUTOR_KINDS.has(job.kind)) return job;
  return { ...job, at: executorTick(job.at) };
}

/** From the day before, so that some workspaces run already, to the day after, which has begun elsewhere. */
function live(scenario: Scenario, firstDay: string, { seed, days }: GenerateOptions): readonly TraceJob[] {
  const jobs: TraceJob[] = [];
  const scene = sceneInto(jobs, new Random(seed));
  const templates = new Map(scenario.templates.map((template) => [template.name, template]));
  const people = scenario.groups.flatMap((group) => drawPeople(group, templates, scene));
  for (let day = -1; day <= days; day++) liveDate(plusDays(firstDay, day), scenario, people, scene);
  for (const { workspace } of people) workspace.isRunning(Number.POSITIVE_INFINITY);
  return jobs;
}

function liveDate(date: string, scenario: Scenario, people: readonly Person[], scene: Scene): void {
  const days = new Map<string, LocalDay>();
  const dayIn = (timezone: string): LocalDay => {
    const day = days.get(timezone) ?? localDay(timezone, date);
    days.set(timezone, day);
    return day;
  };
  for (const template of scenario.templates) schedulePrebuilds(template, dayIn(template.timezone), scene);
  const pushes = scenario.templates.flatMap((template) => pushDay(template, dayIn(template.timezone), scene));
  for (const person of people) liveDay(person, dayIn(person.group.timezone), pushes, scene);
  for (const bursts of scenario.bursts ?? [])
    burstDay(bursts, scenario.templates, dayIn(scenario.timezone), scene);
  for (const group of scenario.groups) forget(group, scenario.templates, dayIn(group.timezone), scene);
}

/** Of all who have an account, whose workspace coderd stops or deletes in a day since nobody used it for long: an assumption. */
const FORGOTTEN_A_DAY = 0.0004;

function forget(group: Group, templates: readonly Template[], day: LocalDay, scene: Scene): void {
  const { random, submit, nameWorkspace } = scene;
  for (let left = poisson(random, group.users * FORGOTTEN_A_DAY); left > 0; left--) {
    const name = weighted(random, group.templates);
    const template = templates.find((it) => it.name === name);
    if (template !== undefined)
      submit(
        ...(['dormancy', template, day.at(random.between(900, 1200))] as const),
        drawSeconds(random, template.stop),
        { workspace: nameWorkspace(), transition: 'stop' },
      );
  }
}

function plannedOutages({ outages, timezone }: Scenario, firstDay: string): readonly Outage[] {
  return outages.map(({ day, minute, seconds }) => {
    const at: EpochMs = localDay(timezone, plusDays(firstDay, day)).at(minute);
    return { at, seconds };
  });
}
