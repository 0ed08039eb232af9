/**
 * One scheduled invocation: looks as often as the plans say, none that would run into the last
 * seconds.
 */

import { NEXT_INVOCATION_MS } from '../decision/look-again.ts';
import type { Config } from '../decision/model/config.ts';
import type { Plan } from '../decision/model/plan.ts';
import type { Failure } from './apply.ts';
import { type LookResult, lookAndAct } from './look.ts';
import type { Clock, Ports } from './ports.ts';

/** Kept free at the end of an invocation, so that Lambda never cuts a look off in the middle. */
const MARGIN_MS = 5_000;

export type InvocationInput = {
  readonly ports: Ports;
  readonly config: Config;
  readonly remainingMs: () => number;
  /** Says that the invocation is over. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called after each look, with how long it took. What it throws is dropped: a report must not
   * stop the scaling.
   */
  readonly onLook: (result: LookResult, durationMs: number) => void;
};

/**
 * Looks until all is quiet or time is up. Throws InvocationError when anything failed on the way.
 */
export async function runLooks(input: InvocationInput): Promise<{ readonly looks: number }> {
  const failures: Failure[] = [];
  let looks = 0;
  for (;;) {
    const startedAt = input.ports.clock.now();
    const done = await lookAndAct(input.ports, input.config, input.signal);
    looks += 1;
    failures.push(...done.failures);
    reportQuietly(input, done, elapsedMs(input.ports.clock, startedAt));
    const restMs = restOf(input, done.plan, startedAt);
    if (restMs === undefined) break;
    await input.ports.clock.sleep(restMs);
  }
  if (failures.length > 0) throw new InvocationError(failures);
  return { looks };
}

/** How long to wait for the next look; undefined when there is to be none in this invocation. */
function restOf(
  { ports, remainingMs, signal }: InvocationInput,
  plan: Plan,
  startedAt: number,
): number | undefined {
  if (plan.lookAgainAfterMs >= NEXT_INVOCATION_MS || signal?.aborted) return undefined;
  const tookMs = elapsedMs(ports.clock, startedAt);
  const restMs = Math.max(0, plan.lookAgainAfterMs - tookMs);
  return remainingMs() - restMs - tookMs > MARGIN_MS ? restMs : undefined;
}

function elapsedMs(clock: Clock, startedAt: number): number {
  return Math.max(0, clock.now() - startedAt);
}

function reportQuietly({ onLook }: InvocationInput, done: LookResult, durationMs: number): void {
  try {
    onLook(done, durationMs);
  } catch {
    // logs and metrics may fail: the next look matters more
  }
}

/**
 * What failed in an invocation, one line a cause: Lambda reports the message and drops everything
 * else.
 */
export class InvocationError extends AggregateError {
  override readonly name = 'InvocationError';

  constructor(failures: readonly Failure[]) {
    const lines = [...new Set(failures.map(({ message }) => message.replaceAll('\n', ' ')))];
    const causes = failures.map(({ message, cause }) => new Error(message, { cause }));
    super(causes, lines.join('\n'));
  }
}
