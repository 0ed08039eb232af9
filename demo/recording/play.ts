/** Plays the demo without waiting, always the same. The function's clock is slow, as in `npm run demo`. */
import { parse } from 'yaml';
import { checkConfig } from '../../lambda/config/check.ts';
import { connect } from '../../lambda/connect.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { runLooks } from '../../lambda/look/invocation.ts';
import { lookEvent } from '../../lambda/look/look-event.ts';
import { Random } from '../../simulator/base/random.ts';
import { serveWorld } from '../../simulator/serve.ts';
import type { World } from '../../simulator/world.ts';
import { functionEnvironment } from '../function/environment.ts';
import { changesIn } from '../function/logged-look.ts';
import { demoConfig, demoWorld, planAutostarts, planSteps, SCHEDULE, SPEED, START } from '../scenario.ts';
import { isOver, summarize } from '../summary.ts';
import type { View } from '../view.ts';
import { FRAME_MS } from './svg.ts';

/** The timeout that the CDK stack gives the function. */
const TIMEOUT_MS = 55_000;
const GIVE_UP_MS = 15 * 60_000;

/** Plays the demo to its end. Sets the variables of the function in this process. */
export async function play(seed: number, createView: (world: World) => View): Promise<void> {
  const world = demoWorld({ seed });
  const served = await serveWorld(world);
  Object.assign(process.env, functionEnvironment(world, served));
  const { config } = checkConfig(parse(demoConfig(served.coderdUrl)));
  const connection = connect(config, world.ecs.clusterName, undefined, { stack: world.stackName });
  writeInOrder(connection.ecs);
  const view = createView(world);
  planSteps(world, new Random(seed), view.say);
  planAutostarts(world, view.say);
  const { passTo, clock } = clockOf(world, view);
  const { timeline } = world;
  let nextAt = plusMs(START, SCHEDULE.firstMs);
  while (!isOver(world) && timeline.now() < START + GIVE_UP_MS) {
    passTo(nextAt);
    const endsAt = clock.now() + TIMEOUT_MS;
    await runLooks({
      ports: { ...connection.ports(), clock },
      config,
      remainingMs: () => endsAt - clock.now(),
      onLook: (result, durationMs) => {
        const line = JSON.stringify({ message: 'look', ...lookEvent({ result, calls: {}, durationMs }) });
        for (const change of changesIn(line)) view.change(change);
      },
    });
    while (nextAt <= timeline.now()) nextAt = plusMs(nextAt, SCHEDULE.everyMs);
  }
  view.end(summarize(world), (timeline.now() - START) / SPEED);
  await Promise.all([connection.close(), served.close()]);
}

/** The function's clock. The world's time passes while the function sleeps. */
function clockOf(world: World, view: View) {
  const { timeline } = world;
  let frameAt = START;
  const passTo = (time: EpochMs): void => {
    for (; frameAt <= time; frameAt = plusMs(frameAt, FRAME_MS * SPEED)) {
      timeline.advanceTo(frameAt);
      view.draw();
    }
    timeline.advanceTo(time);
  };
  const now = (): EpochMs => plusMs(START, (timeline.now() - START) / SPEED);
  const sleep = async (ms: number): Promise<void> => passTo(plusMs(timeline.now(), ms * SPEED));
  return { passTo, clock: { now, sleep } };
}

/** The world draws in the order of the requests, and two at once have no order. */
function writeInOrder({ middlewareStack }: ReturnType<typeof connect>['ecs']): void {
  let last: Promise<unknown> = Promise.resolve();
  middlewareStack.add(
    (next) => (args) => {
      const turn = last.then(() => next(args));
      last = turn.catch(() => undefined);
      return turn;
    },
    { step: 'initialize' },
  );
}
