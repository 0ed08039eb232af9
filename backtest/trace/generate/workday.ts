/** A day of one person and of the workspaces that are theirs. The habits are assumptions; docs/traces.md has them all. */
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Random } from '../../../simulator/base/random.ts';
import { exponential, normal, poisson } from './draws.ts';
import { createFresh } from './fresh.ts';
import type { LocalDay } from './local-day.ts';
import type { Person } from './people.ts';
import type { Push } from './pushes.ts';
import type { Scene } from './scene.ts';
import type { Stretch } from './stretch.ts';

/** Of those who work with Coder, who come; Sunday first. */
const ATTENDANCE = [0.03, 0.88, 0.88, 0.88, 0.86, 0.74, 0.03] as const;
const FRIDAY = 5;
const ON_HOLIDAYS = 0.06;

const MINUTE_MS = 60_000;
/** A day's restarts: a parameter is changed, something hangs. */
const RESTARTS = 0.25;
/** Of those at work who update when their template has a new version, and how many minutes later, on average. */
const UPDATE_SHARE = 0.04;
const UPDATE_AFTER = 40;
/** Who has just started it has the new version, and does not restart. */
const SETTLED_MINUTES = 15;
const STOPS_BY_HAND = 0.2;

/** Adds all jobs of the person's day. Days have to come in their order. */
export function liveDay(person: Person, day: LocalDay, pushes: readonly Push[], scene: Scene): void {
  const { random } = scene;
  const { workspace } = person;
  const stretches = random.next() < attendance(person, day) ? drawStretches(person, day, random) : [];
  startBySchedule(person, day, stretches[0]);
  const restarts = stretches.length === 0 ? [] : drawRestarts(person, stretches, pushes, random);
  for (const { from, to } of stretches) {
    workspace.start('user', from);
    workspace.use(to);
    for (const at of restarts) {
      if (at <= plusMs(from, SETTLED_MINUTES * MINUTE_MS) || to <= at) continue;
      workspace.restart(at);
      workspace.use(to);
    }
  }
  for (let left = poisson(random, person.group.freshPerDay); left > 0; left--)
    createFresh(workspace.template, stretches, scene);
  const leave = stretches.at(-1)?.to;
  if (leave !== undefined && random.next() < STOPS_BY_HAND) workspace.stop(leave);
}

function attendance({ group }: Person, { date, weekday }: LocalDay): number {
  const usual = ATTENDANCE[weekday] ?? 0;
  return group.holidays.some((holiday) => date.endsWith(holiday)) ? Math.min(usual, ON_HOLIDAYS) : usual;
}

/** coderd knows neither holidays nor who is ill; who comes earlier has started it by hand. */
function startBySchedule({ workspace, scheduleMinute }: Person, day: LocalDay, first?: Stretch): void {
  if (scheduleMinute === undefined || day.weekday === 0 || day.weekday === 6) return;
  const at = day.at(scheduleMinute);
  if (first === undefined || at <= first.from) workspace.start('autostart', at);
}

/** From coming to leaving, without lunch and, some days, without meetings. */
function drawStretches(person: Person, day: LocalDay, random: Random): readonly Stretch[] {
  const from = Math.max(EARLIEST, normal(random, person.arrivalMinute, 15));
  const to = from + normal(random, day.weekday === FRIDAY ? 450 : 510, 45);
  const lunch = { from: normal(random, 745, 20), minutes: random.between(30, 60) };
  const meetings = { from: random.between(840, 990), minutes: random.between(45, 180) };
  const pauses = random.next() < 0.35 ? [lunch, meetings] : [lunch];
  const stretches: Stretch[] = [];
  let begin = from;
  for (const pause of pauses) {
    if (pause.from <= begin || pause.from + pause.minutes >= to) continue;
    stretches.push({ from: day.at(begin), to: day.at(pause.from) });
    begin = pause.from + pause.minutes;
  }
  return [...stretches, { from: day.at(begin), to: day.at(to) }];
}

/** 5:00 */
const EARLIEST = 300;

function drawRestarts(
  { workspace }: Person,
  stretches: readonly Stretch[],
  pushes: readonly Push[],
  random: Random,
): readonly EpochMs[] {
  const [from, to] = [stretches[0]?.from ?? 0, stretches.at(-1)?.to ?? 0];
  const own = Array.from({ length: poisson(random, RESTARTS) }, () => random.between(from, to) as EpochMs);
  const updates = pushes
    .filter(({ template }) => template === workspace.template && random.next() < UPDATE_SHARE)
    .map(({ at }) => plusMs(at, exponential(random, UPDATE_AFTER) * MINUTE_MS));
  return [...own, ...updates].sort((a, b) => a - b);
}
