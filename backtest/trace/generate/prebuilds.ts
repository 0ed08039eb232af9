/** Prebuilt workspaces: coderd's reconciler creates and deletes as many as are missing or too many, all at once (docs/coder.md §10). */
import { drawSeconds } from './draws.ts';
import type { LocalDay } from './local-day.ts';
import type { Prebuilds, Template } from './scenario.ts';
import type { Scene } from './scene.ts';

const MINUTE_MS = 60_000;
/** When presets' schedules change their number of instances, Mondays to Fridays. */
export const PREBUILDS_BY_DAY = { fromMinute: 450, toMinute: 1140 } as const;

/** The reconciler sees that one was claimed. */
export function replacePrebuild(template: Template, prebuilds: Prebuilds, at: number, scene: Scene): void {
  build('create', 1, { template, prebuilds, at, scene });
}

/** A new version: all old ones go, and as many new ones are built. */
export function rebuildPrebuilds(template: Template, at: number, day: LocalDay, scene: Scene): void {
  const { prebuilds } = template;
  if (prebuilds === undefined) return;
  const { fromMinute, toMinute } = PREBUILDS_BY_DAY;
  const isByDay = isWorkday(day) && day.at(fromMinute) <= at && at < day.at(toMinute);
  const count = isByDay ? prebuilds.instances : prebuilds.instancesAtNight;
  build('delete', count, { template, prebuilds, at, scene });
  build('create', count, { template, prebuilds, at, scene });
}

/** More in the morning, fewer in the evening. */
export function schedulePrebuilds(template: Template, day: LocalDay, scene: Scene): void {
  const { prebuilds } = template;
  if (prebuilds === undefined || !isWorkday(day)) return;
  const more = prebuilds.instances - prebuilds.instancesAtNight;
  const { fromMinute, toMinute } = PREBUILDS_BY_DAY;
  build('create', more, { template, prebuilds, at: day.at(fromMinute), scene });
  build('delete', more, { template, prebuilds, at: day.at(toMinute), scene });
}

const isWorkday = ({ weekday }: LocalDay): boolean => weekday !== 0 && weekday !== 6;

type Order = {
  readonly template: Template;
  readonly prebuilds: Prebuilds;
  readonly at: number;
  readonly scene: Scene;
};

/** The reconciler comes once a minute. */
function build(what: 'create' | 'delete', count: number, { template, prebuilds, at, scene }: Order): void {
  const { organization, start, stop } = template;
  const tick = Math.ceil(at / MINUTE_MS) * MINUTE_MS;
  for (let left = count; left > 0; left--)
    scene.submit(
      'prebuild',
      { organization, tags: prebuilds.tags },
      tick,
      drawSeconds(scene.random, what === 'create' ? start : stop),
    );
}
