/** Draws the people of a group with their hours. The shares are assumptions: we found no public figures. */
import type { Random } from '../../../world/base/random.ts';
import { BacktestError } from '../backtest-error.ts';
import { normal, weighted } from './draws.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { PeopleGroup, Template } from './scenario.ts';
import { Workspace } from './workspace.ts';

export type Person = {
  readonly group: PeopleGroup;
  readonly workspace: Workspace;
  /** Usual minutes since midnight. */
  readonly arrivalMinute: number;
  /** Minutes since midnight at which coderd starts it, Monday to Friday. Undefined: no schedule. */
  readonly scheduleMinute: number | undefined;
};

/** Share of accounts in use. The other people come so rarely that their workspaces are dormant. */
const ACTIVE_SHARE = 0.75;
/** Standard deviation of arrival times in a group, in minutes. */
const ARRIVAL_DEVIATION = 50;
/** Half of the schedules are at the common time, the others shortly before the person arrives. */
const COMMON_SCHEDULE_SHARE = 0.5;
const HALF_HOUR = 30;

/** The active people of a group. Throws BacktestError if the group names an unknown template. */
export function drawPeople(
  group: PeopleGroup,
  templates: ReadonlyMap<string, Template>,
  context: GeneratorContext,
): readonly Person[] {
  return Array.from({ length: Math.round(group.users * ACTIVE_SHARE) }, () => {
    const { random } = context;
    const template = templates.get(weighted(random, group.templates));
    if (template === undefined)
      throw new BacktestError(
        `drawing people: the scenario lacks a template of the group (${Object.keys(group.templates).join(', ')}); add it, or correct the name`,
      );
    const arrivalMinute = normal(random, group.arrivalMinute, ARRIVAL_DEVIATION);
    const scheduleMinute = drawSchedule(group, arrivalMinute, random);
    const workspace = new Workspace(template, drawTtlFactor(random), context);
    return { group, workspace, arrivalMinute, scheduleMinute };
  });
}

function drawSchedule(group: PeopleGroup, arrivalMinute: number, random: Random): number | undefined {
  if (random.next() >= group.autostartShare) return undefined;
  const minute = random.next() < COMMON_SCHEDULE_SHARE ? group.arrivalMinute : arrivalMinute - 10;
  return Math.floor(minute / HALF_HOUR) * HALF_HOUR;
}

/** Factor for the template's time to live. Most keep it; some extend it until the next morning. */
function drawTtlFactor(random: Random): number {
  const share = random.next();
  if (share < 0.15) return 0.5;
  return share < 0.35 ? 6 : 1;
}
