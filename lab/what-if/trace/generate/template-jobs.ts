/** Draws the jobs of coderd's reconciler: it creates or deletes all at once (docs/internals/coder.md §10). */
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { drawSeconds, poisson } from './draws.ts';
import type { GeneratorContext } from './generator-context.ts';
import { isWorkday, type LocalDay } from './local-day.ts';
import type { Prebuilds, Template } from './scenario.ts';

/** Minutes since midnight at which presets change their number of instances, Monday to Friday. */
const PREBUILDS_BY_DAY = { fromMinute: 450, toMinute: 1140 } as const;

export function replacePrebuild(
  template: Template,
  prebuilds: Prebuilds,
  at: number,
  context: GeneratorContext,
): void {
  build('create', 1, { template, prebuilds, at, context });
}

/** A new template version: the reconciler deletes all prebuilt workspaces and builds the same number. */
function rebuildPrebuilds(template: Template, at: number, day: LocalDay, context: GeneratorContext): void {
  const { prebuilds } = template;
  if (prebuilds === undefined) return;
  const { fromMinute, toMinute } = PREBUILDS_BY_DAY;
  const isByDay = isWorkday(day) && day.at(fromMinute) <= at && at < day.at(toMinute);
  const count = isByDay ? prebuilds.instances : prebuilds.instancesAtNight;
  build('delete', count, { template, prebuilds, at, context });
  build('create', count, { template, prebuilds, at, context });
}

/** The reconciler builds more instances in the morning and deletes them in the evening. */
export function schedulePrebuilds(template: Template, day: LocalDay, context: GeneratorContext): void {
  const { prebuilds } = template;
  if (prebuilds === undefined || !isWorkday(day)) return;
  const more = prebuilds.instances - prebuilds.instancesAtNight;
  const { fromMinute, toMinute } = PREBUILDS_BY_DAY;
  build('create', more, { template, prebuilds, at: day.at(fromMinute), context });
  build('delete', more, { template, prebuilds, at: day.at(toMinute), context });
}

type PrebuildBatch = {
  readonly template: Template;
  readonly prebuilds: Prebuilds;
  readonly at: number;
  readonly context: GeneratorContext;
};

/** The reconciler runs once a minute. */
function build(
  what: 'create' | 'delete',
  count: number,
  { template, prebuilds, at, context }: PrebuildBatch,
): void {
  const { organization, start, stop } = template;
  const tick = Math.ceil(at / MINUTE_MS) * MINUTE_MS;
  for (let left = count; left > 0; left--)
    context.submit(
      'prebuild',
      { organization, tags: prebuilds.tags },
      tick,
      drawSeconds(context.random, what === 'create' ? start : stop),
    );
}

export type Push = { readonly template: Template; readonly at: EpochMs };

const WORKDAYS = 5;
/** Minutes since midnight between which people push new versions. */
const PUSHING = { from: 570, to: 1020 } as const;
/** Assumptions: the share of versions with a mistake, and the minutes until the next attempt. */
const MISTAKES = 0.3;
const TRIES_AGAIN_AFTER = [3, 15] as const;

/** Adds the imports of a template on one day, and the jobs of its prebuilt workspaces that follow. */
export function addPushes(template: Template, day: LocalDay, context: GeneratorContext): readonly Push[] {
  if (!isWorkday(day)) return [];
  const { random } = context;
  return Array.from({ length: poisson(random, template.pushesPerWeek / WORKDAYS) }, () => {
    const at = importUntilGood(template, day.at(random.between(PUSHING.from, PUSHING.to)), context);
    rebuildPrebuilds(template, at, day, context);
    return { template, at };
  });
}

/** Returns the time at which the version without a mistake is imported. */
function importUntilGood(template: Template, first: EpochMs, { random, submit }: GeneratorContext): EpochMs {
  let at: number = first;
  for (;;) {
    const seconds = drawSeconds(random, template.import);
    submit('import', template, at, seconds);
    at += seconds * 1000;
    if (random.next() >= MISTAKES) return at as EpochMs;
    at += random.between(...TRIES_AGAIN_AFTER) * MINUTE_MS;
  }
}
