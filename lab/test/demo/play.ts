/** Plays the demo without waiting, always the same: the looks are those of the function. */
import { parse } from 'yaml';
import { changesIn } from '../../../cli/logs/logged-changes.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import {
  demoConfig,
  demoWorld,
  LOOKS_MS,
  planAutostarts,
  planSteps,
  SCHEDULE,
  SPEED,
  START,
} from '../../demo/scenario.ts';
import { isOver, summarize } from '../../demo/summary.ts';
import type { View } from '../../demo/view.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../world/in-process/function.ts';
import type { World } from '../../world/world.ts';

const GIVE_UP_MS = 15 * 60_000;

export async function play(seed: number, createView: (world: World) => View): Promise<void> {
  const world = demoWorld({ seed });
  const { timeline } = world;
  const scheduler = new VirtualScheduler(timeline);
  const { config } = checkConfig(parse(demoConfig('https://coder.example.com')));
  const view = createView(world);
  planSteps(world, new Random(seed), view.say);
  planAutostarts(world, view.say);
  void new InProcessFunction({
    world,
    scheduler,
    config: () => ({ ...config, looks: { everyMs: LOOKS_MS } }),
    random: new Random(seed),
    onLook: (result, durationMs) => {
      const line = JSON.stringify({ message: 'look', ...lookEvent({ result, calls: {}, durationMs }) });
      for (const change of changesIn(line)) view.change(change);
    },
    onInvoked: ({ error }) => {
      if (error !== undefined) throw error;
    },
  }).run(SCHEDULE.firstMs);
  while (!isOver(world) && timeline.now() < START + GIVE_UP_MS) {
    view.draw();
    await scheduler.advanceTo(plusMs(timeline.now(), LOOKS_MS / 2));
  }
  view.end(summarize(world, { seed }), (timeline.now() - START) / SPEED);
}
