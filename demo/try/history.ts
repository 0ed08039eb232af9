/**
 * Gives the world a past: lets hours of virtual time pass in seconds, with the autoscaler's own
 * looks, so that trace export, learned start times and the waits in the log have something to show.
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import type { JobWait } from '../../lambda/decision/waits/job-wait.ts';
import { waitLine } from '../../lambda/look/wait-line.ts';
import { Random } from '../../simulator/base/random.ts';
import { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../simulator/in-process/function.ts';
import type { World } from '../../simulator/world.ts';

export type PastOptions = {
  readonly config: Config;
  readonly seed: number;
  /** The end of the past. */
  readonly until: EpochMs;
  /** Called with an unexpected error of a look. */
  readonly onError: (error: unknown) => void;
};

/** Lets the world's time pass until a given time. */
export async function passTime(world: World, { config, seed, until, onError }: PastOptions): Promise<void> {
  const scheduler = new VirtualScheduler(world.timeline);
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(seed),
    isPromising: true,
    onLook: (_, __, { waits }) => {
      for (const wait of waits) log(world, wait);
    },
    onInvoked: ({ error }) => {
      if (error !== undefined) onError(error);
    },
  });
  void autoscaler.run();
  await scheduler.advanceTo(until);
}

/** Logs the start of a job as the function does. */
function log({ logs, logGroupName, stackName }: World, wait: JobWait): void {
  const event = { level: 'INFO', message: 'wait', service: stackName, ...waitLine(wait) };
  logs.put(logGroupName, JSON.stringify(event));
}
