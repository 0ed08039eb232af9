/**
 * Random calendars. All transitions that could be foreseen happen on time, with any acts of people
 * and any time of the invocations.
 */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../lab/world/base/random.ts';
import { CoderdRefusal } from '../../../lab/world/coderd/rules/refusal.ts';
import type { World } from '../../../lab/world/world.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type LabPool, START, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';
import { watch } from '../../support/watch.ts';

const MINUTES = 100;
/**
 * Minutes. Transitions that are due earlier cannot be foreseen: a first look and a task start take
 * that long.
 */
const WARM_UP = 5;

/** Each tag set contains the one before. The first runs only jobs without tags. */
const TAG_SETS: readonly Tags[] = [{}, { gpu: 'yes' }, { gpu: 'yes', region: 'eu' }];

/**
 * Templates with random settings, and workspaces in random states. People use, start and stop them.
 */
function fill({ coderd, timeline }: World, random: Random): void {
  const minutes = (from: number, to: number): number => random.whole(from * MINUTE_MS, to * MINUTE_MS);
  const maybe = (ms: number): number => (random.next() < 0.5 ? ms : 0);
  const templates = [...TAG_SETS, ...TAG_SETS].map((tags) =>
    coderd.addTemplate({
      organization: 'default',
      tags,
      timeTilDormantMs: maybe(minutes(30, MINUTES)),
      timeTilDormantAutodeleteMs: maybe(minutes(5, 60)),
      failureTtlMs: maybe(minutes(5, 60)),
      activityBumpMs: minutes(0, 60),
    }),
  );
  for (const template of [...templates, ...templates, ...templates]) {
    const schedule = `${random.whole(0, 59)} ${random.whole(9, 10)} * * *`;
    const workspace = coderd.workspaces.add({
      template,
      running: random.next() < 0.6,
      ttlMs: minutes(30, MINUTES + 30),
      since: plusMs(START, -minutes(0, 20)),
      ...(random.next() < 0.6 ? { schedule } : {}),
    });
    const act = random.pick([
      () => coderd.workspaces.use(workspace.id),
      () => coderd.build(workspace, 'start'),
      () => coderd.build(workspace, 'stop'),
      undefined,
    ]);
    if (act !== undefined) timeline.after(minutes(0, MINUTES), () => unlessRefused(act));
  }
}

/** coderd may refuse the act, because its workspace is gone or has a running build. */
function unlessRefused(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof CoderdRefusal)) throw error;
  }
}

describe('a random calendar', () => {
  it.each(rows([1, 2], 1))(
    'starts workspaces on time and makes other transitions within ten minutes, seed %i',
    async (seed) => {
      const random = new Random(seed);
      const pools = TAG_SETS.map(
        (tags, place): LabPool => ({
          name: `pool-${place}`,
          organization: 'default',
          tags,
          desiredCount: 0,
          idleTimeout: random.pick(['60s', '10m']) ?? '5m',
        }),
      );
      // coderd's executor and the invocations may come at any second of the minute
      const start = plusMs(START, random.whole(0, 59) * 1000);
      const lab = await startLongLab({ pools, seed, start, phaseS: random.whole(1, 59) });
      const { world } = lab;
      const watched = watch(world);
      fill(world, random);
      await lab.invoke(MINUTES);
      const late = watched.late();
      expect(late.filter(({ at }) => at > plusMs(start, WARM_UP * MINUTE_MS))).toEqual([]);
      expect(world.coderd.jobs().length).toBeGreaterThan(10);
      expect(world.coderd.jobs().filter(({ status }) => status === 'failed')).toEqual([]);
      expect(world.figures().killed).toBe(0);
    },
  );
});
