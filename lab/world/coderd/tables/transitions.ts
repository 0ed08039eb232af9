/**
 * Derives which transition of a workspace is due when (getNextTransition and its rules,
 * docs/internals/coder.md §10), in order of precedence.
 *
 * Autostart schedules are read as coderd reads them: `CRON_TZ=Europe/Berlin 30 9 * * 1-5`, with
 * minute, hour, two stars and days of the week (0 = Sunday). The default time zone is UTC. As in
 * robfig/cron, which coderd uses: a local time that a clock change skips does not occur that day, and
 * one that it repeats occurs twice.
 */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { WEEKDAYS } from '../../../../lambda/decision/model/zones.ts';
import { SimulatorError } from '../../base/simulator-error.ts';
import type { Weekday } from './templates.ts';
import type { Due, WorkspaceRecord } from './workspace-records.ts';

export type LifecycleRules = { readonly cleansUpFailedStops: boolean };

type Rule = (workspace: WorkspaceRecord, rules: LifecycleRules) => Due | undefined;

/** The transitions of a workspace; none for prebuilt ones, which their reconciler manages. */
export function transitionsOf(workspace: WorkspaceRecord, rules: LifecycleRules): readonly Due[] {
  if (workspace.prebuilt) return [];
  return [autostop, autostart, failedCleanup, dormancy, deletion].flatMap(
    (rule) => rule(workspace, rules) ?? [],
  );
}

export function isDue({ at, later }: Due, tick: EpochMs): boolean {
  return later ? tick > at : tick >= at;
}

/** The next poll stops the workspaces of a suspended user, but not those of a dormant one. */
const autostop: Rule = ({ latestBuild, dormantAt, owner }) => {
  const { transition, deadline, job } = latestBuild;
  if (job.status === 'failed' || dormantAt !== undefined || transition !== 'start') return undefined;
  const at = owner.status === 'suspended' ? Number.NEGATIVE_INFINITY : deadline;
  return at === undefined ? undefined : { at, later: true, transition: 'stop', reason: 'autostop' };
};

/** Due at next_start_at. If it is missing, the poll that computes it starts from the time of the stop. */
const autostart: Rule = (workspace) => {
  const { latestBuild, dormantAt, owner, schedule, nextStartAt, template } = workspace;
  const { transition, job } = latestBuild;
  if (owner.status !== 'active') return undefined;
  if (job.status === 'failed' || dormantAt !== undefined || transition !== 'stop') return undefined;
  if (schedule === undefined) return undefined;
  const at = nextStartAt ?? nextAllowedAutostart(latestBuild.createdAt, schedule, template.autostartDays);
  return at === undefined ? undefined : { at, later: false, transition: 'start', reason: 'autostart' };
};

const failedCleanup: Rule = ({ latestBuild, template: { failureTtlMs } }, { cleansUpFailedStops }) => {
  const { transition, job } = latestBuild;
  const { status, completedAt } = job;
  const isCleanedUp = transition === 'start' || (transition === 'stop' && cleansUpFailedStops);
  if (failureTtlMs === 0 || status !== 'failed' || !isCleanedUp || completedAt === undefined)
    return undefined;
  return { at: completedAt + failureTtlMs, later: true, transition: 'stop', reason: 'autostop' };
};

const dormancy: Rule = ({ latestBuild, dormantAt, lastUsedAt, template: { timeTilDormantMs } }) => {
  if (dormantAt !== undefined || timeTilDormantMs === 0) return undefined;
  const transition = latestBuild.transition === 'start' ? 'stop' : undefined;
  return { at: lastUsedAt + timeTilDormantMs, later: true, transition, reason: 'dormancy' };
};

/** coderd retries a failed delete after a day. */
const deletion: Rule = ({ latestBuild: { transition, job }, deletingAt }) => {
  if (deletingAt === undefined) return undefined;
  const hasFailed = transition === 'delete' && job.status === 'failed';
  const pausedUntil = hasFailed ? (job.completedAt ?? 0) + DAY_MS : 0;
  const at = Math.max(deletingAt, pausedUntil);
  return { at, later: true, transition: 'delete', reason: 'autodelete' };
};

type Schedule = {
  readonly timezone: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
};

/** All zones differ from UTC by multiples of 15 minutes, and change at multiples of 15 minutes. */
const QUARTER_MS = 15 * MINUTE_MS;
/** A weekly schedule recurs within a week, which has one hour more after a clock change. */
const HORIZON_MS = 8 * 24 * HOUR_MS;

const schedules = new Map<string, Schedule>();
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, Map<number, number>>();

/**
 * The first time after `after` that matches the schedule, on a local day that the template allows.
 * @throws SimulatorError for an invalid schedule
 */
export function nextAllowedAutostart(
  after: EpochMs,
  schedule: string,
  allowedDays: readonly Weekday[],
): EpochMs | undefined {
  const { timezone, minutes, hours, days } = read(schedule);
  const allowed = new Set(WEEKDAYS.keys().filter((day) => allowedDays.includes(WEEKDAYS[day] ?? 'sunday')));
  if (days.isDisjointFrom(allowed)) return undefined;
  const first = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  for (let time = first; time < after + HORIZON_MS; time = startOfQuarter(time) + QUARTER_MS) {
    const local = new Date(time + offsetMs(timezone, time));
    const day = local.getUTCDay();
    if (!hours.has(local.getUTCHours()) || !days.has(day) || !allowed.has(day)) continue;
    const minute = local.getUTCMinutes();
    for (let passed = 0; passed < 15 - (minute % 15); passed++)
      if (minutes.has(minute + passed)) return (time + passed * MINUTE_MS) as EpochMs;
  }
  return undefined;
}

function read(text: string): Schedule {
  const known = schedules.get(text) ?? parse(text);
  schedules.set(text, known);
  return known;
}

function parse(text: string): Schedule {
  const [, timezone = 'UTC', cron = ''] = /^(?:CRON_TZ=(\S+) )?(.*)$/.exec(text) ?? [];
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...rest] = cron.split(' ');
  if (dayOfMonth !== '*' || month !== '*' || dayOfWeek === undefined || rest.length > 0)
    throw new SimulatorError(
      `reading the schedule "${text}": expected [CRON_TZ=<zone> ]<minute> <hour> * * <days>`,
    );
  return {
    timezone,
    minutes: numbers(minute, 59),
    hours: numbers(hour, 23),
    days: numbers(dayOfWeek, 6),
  };
}

/** Parses one part of a schedule: `*`, `1`, `1-5` or `1,3,5-6`. */
function numbers(field: string | undefined, max: number): ReadonlySet<number> {
  if (field === '*') return new Set(Array(max + 1).keys());
  const found = new Set<number>();
  for (const part of field?.split(',') ?? []) {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (from === undefined || Number(from) > Number(to) || Number(to) > max)
      throw new SimulatorError(`reading a schedule: "${part}" is not a number or range from 0 to ${max}`);
    for (let number = Number(from); number <= Number(to); number++) found.add(number);
  }
  return found;
}

const startOfQuarter = (time: number): number => Math.floor(time / QUARTER_MS) * QUARTER_MS;

function offsetMs(timezone: string, time: number): number {
  const quarter = startOfQuarter(time);
  const known = offsets.get(timezone) ?? new Map<number, number>();
  offsets.set(timezone, known);
  const offset = known.get(quarter) ?? wallClock(timezone, quarter) - quarter;
  known.set(quarter, offset);
  return offset;
}

/** The zone's local time, as if it were UTC. */
function wallClock(timezone: string, time: number): number {
  const format =
    formats.get(timezone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  formats.set(timezone, format);
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}
