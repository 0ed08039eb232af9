/**
 * The looks of one minute: as often as the plans request, and none that could run into the last
 * seconds. Between two looks the invocation ends and a message starts the next one, or it waits.
 */
import { NEXT_INVOCATION_MS } from '../decision/look-again.ts';
import { type EpochMs, plusMs } from '../decision/model/brands.ts';
import type { Config } from '../decision/model/config.ts';
import type { Plan } from '../decision/model/plan.ts';
import { plainLine } from '../explain/format.ts';
import type { Failure } from './apply.ts';
import { type LookResult, lookAndAct } from './look.ts';
import type { Clock, Ports } from './ports.ts';
import type { LookMessage } from './relay/relay.ts';
import { TimeLimit } from './time-limit.ts';

/** Kept free at the end of an invocation, so that Lambda does not stop a look halfway. */
const MARGIN_MS = 5_000;

export type InvocationInput = {
  readonly ports: Ports;
  readonly config: Config;
  /** The message that requested this look. @default none: the schedule did */
  readonly message?: LookMessage | undefined;
  readonly remainingMs: () => number;
  /** Aborts when the invocation is over. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called after each look with its duration. Its errors are ignored: a failed report must not stop
   * the scaling.
   */
  readonly onLook: (result: LookResult, durationMs: number) => void;
};

/**
 * Looks until no further look is needed, a message requests the next one, or time is up. Throws
 * InvocationError if anything failed.
 */
export async function runLooks(given: InvocationInput): Promise<{ readonly looks: number }> {
  const { clock, relay } = given.ports;
  const { message } = given;
  if (message !== undefined && !relay?.isDue(message, clock.now())) return { looks: 0 };
  given.ports.memory?.wake({ now: clock.now(), isOwn: message && relay?.isOwn(message) });
  const nextMinute = plusMs(clock.now(), NEXT_INVOCATION_MS);
  // with Lambda's loop detection off, this ends a chain of messages
  const until = message === undefined || message.until > nextMinute ? nextMinute : message.until;
  const input = { ...given, remainingMs: () => Math.min(given.remainingMs(), until - clock.now()) };
  const failures: Failure[] = [];
  let looks = 0;
  for (;;) {
    const startedAt = clock.now();
    const done = await lookAndAct(input.ports, input.config, input.signal);
    looks += 1;
    failures.push(...done.failures);
    reportSafely(input, done, elapsedMs(clock, startedAt));
    await readPast(input, done, startedAt);
    if (isTimeLeft(input)) await input.ports.record?.save();
    const delayMs = delayOf(input, done.plan, startedAt);
    if (delayMs === undefined) {
      relay?.rest({ until, now: clock.now() });
      input.ports.memory?.rest(until);
      break;
    }
    if (await isHandedOver(input.ports, delayMs, until)) break;
  }
  if (failures.length > 0) throw new InvocationError(failures);
  return { looks };
}

/** Writing the record takes two seconds at most. */
function isTimeLeft({ remainingMs, signal }: InvocationInput): boolean {
  return !signal?.aborted && remainingMs() > MARGIN_MS;
}

const PAST_MS = { least: 1_000, most: 5_000 } as const;

/** Uses the time in which the invocation would wait for the next look, so that no look is late. */
async function readPast(input: InvocationInput, { snapshot, plan }: LookResult, startedAt: number) {
  const { ports, config, signal, remainingMs } = input;
  const idleMs = delayOf(input, plan, startedAt) ?? remainingMs() - MARGIN_MS;
  if (ports.past === undefined || signal?.aborted || idleMs < PAST_MS.least) return;
  const ms = Math.min(idleMs, PAST_MS.most);
  const limit = new TimeLimit({ until: signal, ms, startTimer: ports.clock.startTimer });
  await ports.past.read({ snapshot, pools: config.pools, signal: limit.signal });
  limit.end();
}

/** Hands the next look over, or waits for it. */
async function isHandedOver({ clock, relay }: Ports, delayMs: number, until: EpochMs): Promise<boolean> {
  const nextAt = plusMs(clock.now(), delayMs);
  if (await relay?.handOver({ delayMs, until, now: clock.now() })) return true;
  await clock.sleep(Math.max(0, nextAt - clock.now()));
  return false;
}

/** How long to wait for the next look; undefined if this invocation has no further look. */
function delayOf(
  { ports, remainingMs, signal }: InvocationInput,
  plan: Plan,
  startedAt: number,
): number | undefined {
  if (signal?.aborted) return undefined;
  const tookMs = elapsedMs(ports.clock, startedAt);
  const delayMs = Math.max(0, plan.lookAgainAfterMs - tookMs);
  return remainingMs() - delayMs - tookMs > MARGIN_MS ? delayMs : undefined;
}

function elapsedMs(clock: Clock, startedAt: number): number {
  return Math.max(0, clock.now() - startedAt);
}

function reportSafely({ onLook }: InvocationInput, done: LookResult, durationMs: number): void {
  try {
    onLook(done, durationMs);
  } catch {
    // logs and metrics may fail: the next look is more important
  }
}

/** One failure of a look, a cause of InvocationError. */
class LookError extends Error {
  override readonly name = 'LookError';
}

/** The failures of an invocation, one line per cause: Lambda reports the message only. */
export class InvocationError extends AggregateError {
  override readonly name = 'InvocationError';

  constructor(failures: readonly Failure[]) {
    const lines = [...new Set(failures.map(({ message }) => plainLine(message)))];
    const causes = failures.map(({ message, cause }) => new LookError(message, { cause }));
    super(causes, lines.join('\n'));
  }
}
