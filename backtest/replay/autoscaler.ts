/**
 * Runs the autoscaler itself as a policy: invocations by schedule and by messages, on the ports of a
 * simulated world.
 */

import { RecordParameter } from '../../lambda/adapters/parameters/record-parameter.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { reasonSentence } from '../../lambda/explain/reason-text.ts';
import { InvocationError, runLooks } from '../../lambda/look/invocation.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { type LookMessage, type LookQueue, Relay } from '../../lambda/look/relay/relay.ts';
import { KeptRecord } from '../../lambda/look/stock/kept-record.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import { type StartedWaits, WaitRecord } from '../../lambda/look/wait-record.ts';
import { Random } from '../../simulator/base/random.ts';
import type { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { inProcessParameters } from '../../simulator/in-process/aws-clients.ts';
import { QueueModel } from '../../simulator/queue/model.ts';
import type { World } from '../../simulator/world.ts';
import type { PolicyContext } from '../policies/policy.ts';
import { virtualPorts } from './ports/ports.ts';

const SCHEDULE_MS = 60_000;
/** The timeout of the function in the CDK stack. */
const TIMEOUT_MS = 55_000;
/**
 * Invocations run 20 s after the full minute. coderd's executor runs at the full minute; a real
 * schedule has any offset.
 */
const PHASE_MS = 20_000;
/** Assumption: Lambda ends a warm process after 1 to 6 hours, and its memory is lost. */
const COLD_EVERY_MS = [3_600_000, 6 * 3_600_000] as const;

/** The parameter with the record of builds, which survives cold starts. */
export const RECORD = '/coder-autoscaler/record';

export type AutoscalerOptions = {
  readonly world: World;
  readonly scheduler: VirtualScheduler;
  readonly config: Config;
  /** Seed of the times at which Lambda ends the process. */
  readonly seed: number;
  readonly context: Pick<PolicyContext, 'isCoderdDown' | 'count'>;
  /** `waits`: the waits of the jobs that started since the last look. */
  readonly onLook: (tick: LookResult, waits: StartedWaits) => void;
  /** Called with an unexpected error of an invocation. */
  readonly onError: (error: unknown) => void;
};

/** What a process of the function keeps from one invocation to the next. */
type Process = { readonly ports: () => Ports; readonly record: WaitRecord };

/** Never returns. It stops when the world no longer advances. */
export async function runAutoscaler(options: AutoscalerOptions): Promise<never> {
  const { world, scheduler, context } = options;
  let refused = 0;
  const isCoderdDown = (): boolean => {
    const isDown = context.isCoderdDown();
    if (isDown) refused++;
    return isDown;
  };
  const clock = { now: () => scheduler.now(), sleep: (ms: number) => scheduler.wait(ms) };
  const queue = new QueueModel(scheduler);
  const store = new RecordParameter(inProcessParameters(world.parameters), RECORD);
  const send: LookQueue['send'] = async (message, delayS) => queue.send(JSON.stringify(message), delayS);
  const start = (): Process => {
    const stock = new StockLearner();
    const relay = new Relay({ send }, options.onError);
    const record = new KeptRecord({ learner: stock, store, clock, onFailure: () => {} });
    const ports = virtualPorts({
      world,
      scheduler,
      isCoderdDown,
      stock,
      record,
      onCall: (api, requests) => context.count({ [api]: requests }),
    });
    return { ports: () => ({ ...ports(), relay }), record: new WaitRecord() };
  };
  const process = withColdStarts(start, { now: () => scheduler.now(), random: new Random(options.seed) });
  queue.handler = (body) => invoke(options, process(), () => refused, JSON.parse(body) as LookMessage);
  await scheduler.wait(PHASE_MS);
  for (;;) {
    void invoke(options, process(), () => refused);
    await scheduler.wait(SCHEDULE_MS);
  }
}

/**
 * Calls `start` again every 1 to 6 hours, as Lambda does with a process. The memory of the old one
 * is lost.
 */
export function withColdStarts<T>(
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
  { scheduler, config, context, onLook, onError }: AutoscalerOptions,
  { ports, record }: Process,
  refused: () => number,
  message?: LookMessage,
): Promise<void> {
  const refusedBefore = refused();
  const endsAt = scheduler.now() + TIMEOUT_MS;
  try {
    await runLooks({
      ports: ports(),
      config,
      message,
      remainingMs: () => endsAt - scheduler.now(),
      onLook: (tick, durationMs) => {
        context.count({ ticks: 1 });
        onLook(tick, record.after(tick, durationMs));
      },
    });
  } catch (error) {
    // during an outage of coderd an invocation fails as intended; any other failure is an error
    if (!(error instanceof InvocationError) || refused() === refusedBefore) onError(error);
  }
}

/**
 * The changes of desired counts that a look made, each with the reasons of its pool as sentences.
 */
export function changesOf({ plan, outcome }: LookResult) {
  return outcome.applied.flatMap((action) => {
    if (action.kind !== 'set-desired') return [];
    const pool = plan.pools.find(({ name }) => name === action.pool);
    const { from, to } = action;
    return [{ pool: action.pool, from, to, why: pool?.why.map(reasonSentence) ?? [] }];
  });
}
