/** Who works where, and from when on. The shares are assumptions; no public figures were found. */
import type { Random } from '../../../simulator/base/random.ts';
import { normal, weighted } from './draws.ts';
import type { Group, Template } from './scenario.ts';
import type { Scene } from './scene.ts';
import { Workspace } from './workspace.ts';

export type Person = {
  readonly group: Group;
  readonly workspace: Workspace;
  /** Minutes since midnight, about. */
  readonly arrivalMinute: number;
  /** When coderd starts the workspace, Mondays to Fridays, whoever comes. */
  readonly scheduleMinute: number | undefined;
};

/** Of all with an account; the others come so rarely that their workspaces are dormant. */
const ACTIVE_SHARE = 0.75;
/** Colleagues come this many minutes apart. */
const ARRIVAL_DEVIATION = 50;
/** Of those with a schedule: half have what everybody has, the others about when they come. */
const COMMON_SCHEDULE_SHARE = 0.5;
const HALF_HOUR = 30;

/** Those of a group who work with Coder. */
export function drawPeople(
  group: Group,
  templates: ReadonlyMap<string, Template>,
  scene: Scene,
): readonly Person[] {
  return Array.from({ length: Math.round(group.users * ACTIVE_SHARE) }, () => {
    const { random } = scene;
    const template = templates.get(weighted(random, group.templates));
    if (template === undefined)
      throw new Error(`drawing people: "${Object.keys(group.templates)}" has a name that is no template`);
    const arrivalMinute = normal(random, group.arrivalMinute, ARRIVAL_DEVIATION);
    const scheduleMinute = drawSchedule(group, arrivalMinute, random);
    const workspace = new Workspace(template, drawPatience(random), scene);
    return { group, workspace, arrivalMinute, scheduleMinute };
  });
}

function drawSchedule(group: Group, arrivalMinute: number, random: Random): number | undefined {
  if (random.next() >= group.autostartShare) return undefined;
  const minute = random.next() < COMMON_SCHEDULE_SHARE ? group.arrivalMinute : arrivalMinute - 10;
  return Math.floor(minute / HALF_HOUR) * HALF_HOUR;
}

/**
 * Most leave the time to live as it is; some want it short, and some long enough to find it running in the morning. On Mondays they all
 * find it stopped.
 */
function drawPatience(random: Random): number {
  const share = random.next();
  if (share < 0.15) return 0.5;
  return share < 0.35 ? 6 : 1;
}
