/** Draws one day of a person and their workspaces. docs/backtest.md lists the assumed habits. */
import { type EpochMs, plusMs } from '../../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import type { Random } from '../../../world/base/random.ts';
import { exponential, normal, poisson } from './draws.ts';
import type { GeneratorContext, WorkInterval } from './generator-context.ts';
import { isWorkday, type LocalDay } from './local-day.ts';
import type { Person } from './people.ts';
import type { Push } from './template-jobs.ts';
import { addTaskWorkspace } from './workspace.ts';

/** Share of active people who come to work, by weekday, Sunday first. */
const ATTENDANCE = [0.03, 0.88, 0.88, 0.88, 0.86, 0.74, 0.03] as const;
const FRIDAY = 5;
const ON_HOLIDAYS = 0.06;

/** Mean restarts per person and day: a parameter changed, or the workspace hangs. */
const RESTARTS = 0.25;
/** Share of people at work who update to a new template version, and the mean minutes until they do. */
const UPDATE_SHARE = 0.04;
const UPDATE_AFTER = 40;
/** A workspace that started so recently has the new version, so its owner does not restart it. */
const SETTLED_MINUTES = 15;
const STOPS_BY_HAND = 0.2;

/** Adds all jobs of one day of a person. Call it for one day after the other. */
export function addPersonDay(
  person: Person,
  day: LocalDay,
  pushes: readonly Push[],
  context: GeneratorContext,
): void {
  const { random } = context;
  const { workspace } = person;
  const intervals = random.next() < attendance(person, day) ? drawWorkIntervals(person, day, random) : [];
  startBySchedule(person, day, intervals[0]);
  const restarts = intervals.length === 0 ? [] : drawRestarts(person, intervals, pushes, random);
  for (const { from, to } of intervals) {
    workspace.start('user', from);
    workspace.use(to);
    for (const at of restarts) {
      if (at <= plusMs(from, SETTLED_MINUTES * MINUTE_MS) || to <= at) continue;
      workspace.restart(at);
      workspace.use(to);
    }
  }
  for (let left = poisson(random, person.group.freshPerDay); left > 0; left--)
    addTaskWorkspace(workspace.template, intervals, context);
  const leave = intervals.at(-1)?.to;
  if (leave !== undefined && random.next() < STOPS_BY_HAND) workspace.stop(leave);
}

function attendance({ group }: Person, { date, weekday }: LocalDay): number {
  const usual = ATTENDANCE[weekday] ?? 0;
  return group.holidays.some((holiday) => date.endsWith(holiday)) ? Math.min(usual, ON_HOLIDAYS) : usual;
}

/** coderd knows no holidays and no sick days. A person who comes earlier starts the workspace by hand. */
function startBySchedule({ workspace, scheduleMinute }: Person, day: LocalDay, first?: WorkInterval): void {
  if (scheduleMinute === undefined || !isWorkday(day)) return;
  const at = day.at(scheduleMinute);
  if (first === undefined || at <= first.from) workspace.start('autostart', at);
}

/** From arrival to departure, without the lunch break and, on some days, without meetings. */
function drawWorkIntervals(person: Person, day: LocalDay, random: Random): readonly WorkInterval[] {
  const from = Math.max(EARLIEST, normal(random, person.arrivalMinute, 15));
  const to = from + normal(random, day.weekday === FRIDAY ? 450 : 510, 45);
  const lunch = { from: normal(random, 745, 20), minutes: random.between(30, 60) };
  const meetings = { from: random.between(840, 990), minutes: random.between(45, 180) };
  const pauses = random.next() < 0.35 ? [lunch, meetings] : [lunch];
  const intervals: WorkInterval[] = [];
  let begin = from;
  for (const pause of pauses) {
    if (pause.from <= begin || pause.from + pause.minutes >= to) continue;
    intervals.push({ from: day.at(begin), to: day.at(pause.from) });
    begin = pause.from + pause.minutes;
  }
  return [...intervals, { from: day.at(begin), to: day.at(to) }];
}

/** 5:00 */
const EARLIEST = 300;

function drawRestarts(
  { workspace }: Person,
  intervals: readonly WorkInterval[],
  pushes: readonly Push[],
  random: Random,
): readonly EpochMs[] {
  const [from, to] = [intervals[0]?.from ?? 0, intervals.at(-1)?.to ?? 0];
  const own = Array.from({ length: poisson(random, RESTARTS) }, () => random.between(from, to) as EpochMs);
  const updates = pushes
    .filter(({ template }) => template === workspace.template && random.next() < UPDATE_SHARE)
    .map(({ at }) => plusMs(at, exponential(random, UPDATE_AFTER) * MINUTE_MS));
  return [...own, ...updates].sort((a, b) => a - b);
}
