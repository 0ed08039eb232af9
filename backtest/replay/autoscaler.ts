/** The product itself as a policy: its invocations on their schedule, on the ports of a world. */

import type { Config } from '../../lambda/decision/model/config.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';
import { InvocationError, runLooks } from '../../lambda/look/invocation.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { Random } from '../../simulator/base/random.ts';
import type { World } from '../../simulator/world.ts';
import type { VirtualScheduler } from '../../verify/random-worlds/world/virtual-scheduler.ts';
import type { Scene } from '../policies/policy.ts';
import { virtualPorts } from './ports/ports.ts';

const SCHEDULE_MS = 60_000;
/** What the CDK stack gives the function. */
const TIMEOUT_MS = 55_000;
/** After the full minute, at which coderd's executor comes: a schedule begins whenever it was created. */
const PHASE_MS = 20_000;
/** Lambda ends a warm process now and then, and with it what the process remembers: an assumption. */
const COLD_EVERY_MS = [3_600_000, 6 * 3_600_000] as const;

export type AutoscalerOptions = {
  readonly world: World;
  readonly pace: VirtualScheduler;
  readonly config: Config;
  /** Of the times at which the function loses its memory. */
  readonly seed: number;
  readonly scene: Pick<Scene, 'isCoderdDown' | 'count'>;
  readonly onLook: (tick: LookResult) => void;
  /** What an invocation must not throw. */
  readonly onError: (error: unknown) => void;
};

/** Runs until the world is no longer advanced. */
export async function runAutoscaler(options: AutoscalerOptions): Promise<never> {
  const { world, pace, scene } = options;
  let refused = 0;
  const isCoderdDown = (): boolean => {
    const isDown = scene.isCoderdDown();
    if (isDown) refused++;
    return isDown;
  };
  const start = (): (() => Ports) =>
    virtualPorts({
      ...{ world, pace, isCoderdDown },
      onCall: (api, requests) => scene.count({ [api]: requests }),
    });
  const ports = forgetful(start, { now: () => pace.now(), random: new Random(options.seed) });
  await pace.wait(PHASE_MS);
  for (;;) {
    void invoke(options, ports()(), () => refused);
    await pace.wait(SCHEDULE_MS);
  }
}

/** What `start` makes, made anew after 1 to 6 hours: what it remembers is lost then. */
export function forgetful<T>(
  start: () => T,
  { now, random }: { readonly now: () => number; readonly random: Random },
): () => T {
  const warm = (): { readonly value: T; readonly endsAt: number } => ({
    value: start(),
    endsAt: now() + random.between(...COLD_EVERY_MS),
  });
  let current = warm();
  return () => {
    if (now() >= current.endsAt) current = warm();
    return current.value;
  };
}

async function invoke(
  { pace, config, scene, onLook, onError }: AutoscalerOptions,
  ports: ReturnType<ReturnType<typeof virtualPorts>>,
  refused: () => number,
): Promise<void> {
  const refusedBefore = refused();
  const endsAt = pace.now() + TIMEOUT_MS;
  try {
    await runLooks({
      ...{ ports, config, remainingMs: () => endsAt - pace.now() },
      onLook: (tick) => {
        scene.count({ ticks: 1 });
        onLook(tick);
      },
    });
  } catch (error) {
    // in an outage an invocation fails, and the next one looks again; nothing else in the world gives it a reason to
    if (!(error instanceof InvocationError) || refused() === refusedBefore) onError(error);
  }
}

/** The changes of desired counts that a look has made, each with the sentences of its pool. */
export function changesOf({ plan, outcome }: LookResult) {
  return outcome.applied.flatMap((action) => {
    if (action.kind !== 'set-desired') return [];
    const pool = plan.pools.find(({ name }) => name === action.pool);
    const { from, to } = action;
    return [{ pool: action.pool, from, to, why: pool?.why.map(reasonSentence) ?? [] }];
  });
}
