/**
 * The simulated guard, the first process of the provisioner's container
 * (docs/internals/architecture.md, "The lease"). Its behaviour is in guard-table.ts. This class
 * turns answers and timers into inputs of the table, and effects into calls:
 *
 *   leasing: takes the lease and looks; again every 5 to 15 s, for at most 10 min
 *   working: looks every 30 s with jitter; renews every 10 to 20 min, after a look with the lease
 *   left: waits 10 min until it is stopped; died: waits 1 min, or 3 min after an early death
 *
 * Answers of the agent come late, so each is judged in the phase in which it arrives.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { Random } from '../base/random.ts';
import type { Timeline } from '../base/timeline.ts';
import type { AgentAnswer, Container, ContainerHost } from '../ecs/parts/container.ts';
import type { Range } from '../ecs/parts/latencies.ts';
import type { Daemon } from './daemon.ts';
import { type GuardEffect, type GuardInput, type GuardPhase, stepGuard } from './guard-table.ts';

export type { GuardPhase } from './guard-table.ts';

type GuardOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly host: ContainerHost;
  /** Starts the daemon under its name; `onExit` is called when its process has ended. */
  readonly startDaemon: (name: string, onExit: (code: number) => void) => Daemon;
  readonly pool: string;
  readonly onEnd: () => void;
  /** Gets each line that guard.sh logs when its phase changes. @default none */
  readonly onLog?: ((line: string) => void) | undefined;
};

/** The lease that the guard takes. */
const LEASE_MINUTES = 48 * 60;
/** The protection that means "leaving": set by a drain request, or by a guard that drains by itself. */
const LEAVING_MINUTES = 23 * 60;
/** Less time left than this is a drain request. */
const ASKED_BELOW_MS = 24 * HOUR_MS;
/** With less left the guard renews the 23 h, so the protection does not expire during a long job. */
const LOW_BELOW_MS = 12 * HOUR_MS;
const LOOK_EVERY_MS: Range = [20_000, 40_000];
const RENEW_EVERY_MS: Range = [10 * MINUTE_MS, 20 * MINUTE_MS];
const LEASE_AGAIN_MS: Range = [5_000, 15_000];
const TOLD_WITHIN_MS = 3_000;
const LEASE_WITHIN_MS = 10 * MINUTE_MS;
const DENIED_FOR_MS = MINUTE_MS;
const BLIND_FOR_MS = 6 * HOUR_MS;
const REFUSALS_THAT_ASK = 2;
const LEFT_FOR_MS = 10 * MINUTE_MS;
const DIED_FOR_MS = MINUTE_MS;
const EXIT_MS: Range = [10, 100];
/** Why the phase changes, as guard.sh logs it. */
const LOGGED: Readonly<Partial<Record<GuardInput, string>>> = {
  'lease-read': 'leased',
  'lease-time-over': 'no-lease',
  'role-refused': 'role-refused',
  'ask-seen': 'asked',
  'ask-seen-low': 'asked',
  'gone-seen': 'lease-gone',
  'blind-for-6h': 'blind',
  'renewal-refused-again': 'refused-twice',
  stop: 'signal',
  'wait-over': 'waited',
};
/** The exit code of a guard whose daemon exited with 0 unasked. */
const ENDED_BY_ITSELF = 76;

export class Guard implements Container {
  readonly #options: GuardOptions;
  #phase: GuardPhase = 'leasing';
  #hangs = false;
  #hasKeeper = true;
  #daemon: Daemon | undefined;
  #seenAt: EpochMs;
  #daemonSince = 0;
  #renewFrom = 0;
  #refusals = 0;
  #deniedSince: EpochMs | undefined;
  #daemonCode = 0;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#seenAt = options.timeline.now();
    this.#after(LEASE_WITHIN_MS, () => this.#step('lease-time-over'));
    this.#lease();
  }

  get phase(): GuardPhase {
    return this.#phase;
  }

  get daemon(): Daemon | undefined {
    return this.#daemon;
  }

  isBusy(): boolean {
    return this.#daemon?.isBusy ?? false;
  }

  /** Makes the guard hang: it reacts to nothing and renews nothing, but its daemon goes on. */
  hang(): void {
    this.#hangs = true;
  }

  /** Ends the process that looks and renews. Has an effect only once the daemon has started. */
  endKeeper(): void {
    if (this.#daemon === undefined) return;
    this.#hasKeeper = false;
    this.#step('keeper-ended');
  }

  terminate(): void {
    this.#step('stop');
  }

  kill(): void {
    this.#phase = 'ended';
    this.#daemon?.kill();
    this.#options.onEnd();
  }

  #step(input: GuardInput): void {
    if (this.#hangs) return;
    const from = this.#phase;
    const { to, effects } = stepGuard(from, input);
    this.#phase = to;
    if (to === 'died' && this.#daemonCode === 0) this.#daemonCode = ENDED_BY_ITSELF;
    if (to !== from) this.#log(to, LOGGED[input] ?? input);
    if (to !== from && to === 'left') this.#after(LEFT_FOR_MS, () => this.#step('wait-over'));
    if (to !== from && to === 'died') this.#after(this.#diedForMs(), () => this.#step('wait-over'));
    for (const effect of effects) this.#effects[effect]();
  }

  #log(state: GuardPhase, why: string): void {
    const { host, pool, onLog } = this.#options;
    const daemon = this.#daemon === undefined && why !== 'leased' ? '' : `${pool}-${host.taskId}`;
    onLog?.(JSON.stringify({ level: 'info', message: 'guard', state, why, daemon }));
  }

  readonly #effects: Readonly<Record<GuardEffect, () => void>> = {
    'take-lease': () => this.#afterRange(LEASE_AGAIN_MS, () => this.#lease()),
    'start-daemon': () => this.#startDaemon(),
    renew: () => this.#renew(),
    hold: () => this.#options.host.agent.protect(LEAVING_MINUTES, () => {}),
    'terminate-daemon': () => this.#daemon?.terminate(),
    release: () => this.#options.host.agent.release(() => {}),
    'exit-0': () => this.#end(0),
    'exit-75': () => this.#end(75),
    'exit-77': () => this.#end(77),
    'exit-79': () => this.#end(79),
    'exit-code': () => this.#end(this.#daemonCode),
  };

  /** The look decides, not the answer to the write, which may be lost although the lease was taken. */
  #lease(): void {
    const { agent } = this.#options.host;
    if (this.#phase !== 'leasing') return;
    agent.protect(LEASE_MINUTES, (written) => {
      const isDenied = written.kind === 'error' && written.code.startsWith('AccessDenied');
      this.#deniedSince = isDenied ? (this.#deniedSince ?? this.#now()) : undefined;
      agent.look((answer) => this.#readBack(answer));
    });
  }

  /** After the lease: if ECS chose the task before, the metadata show it shortly, and it has no effect. */
  #readBack(answer: AgentAnswer): void {
    const isThere = this.#leftMs(answer) >= ASKED_BELOW_MS;
    const isRefused = this.#now() - (this.#deniedSince ?? this.#now()) >= DENIED_FOR_MS;
    if (!isThere) this.#step(isRefused ? 'role-refused' : 'no-lease-read');
    else
      this.#after(TOLD_WITHIN_MS, () => {
        const isWanted = this.#options.host.agent.desiredStatus() === 'RUNNING';
        this.#step(isWanted ? 'lease-read' : 'no-lease-read');
      });
  }

  #startDaemon(): void {
    const { host, pool, startDaemon } = this.#options;
    this.#seenAt = this.#now();
    this.#daemonSince = this.#now();
    this.#planRenewal();
    this.#daemon = startDaemon(`${pool}-${host.taskId}`, (code) => {
      this.#daemonCode = code;
      this.#step('daemon-exited');
    });
    this.#lookLater();
  }

  #lookLater(): void {
    this.#afterRange(LOOK_EVERY_MS, () => {
      if (this.#phase !== 'ended') this.#options.host.agent.look((answer) => this.#seen(answer));
    });
  }

  #seen(answer: AgentAnswer): void {
    const isReleased = this.#phase === 'left' || this.#phase === 'died';
    if (this.#hasKeeper || isReleased) this.#step(this.#judge(answer));
    this.#lookLater();
  }

  #judge(answer: AgentAnswer): GuardInput {
    const now = this.#now();
    if (answer.kind !== 'protection') return now - this.#seenAt >= BLIND_FOR_MS ? 'blind-for-6h' : 'blind';
    this.#seenAt = now;
    if (!answer.enabled) return 'gone-seen';
    const leftMs = this.#leftMs(answer);
    if (leftMs < LOW_BELOW_MS) return 'ask-seen-low';
    if (leftMs < ASKED_BELOW_MS) return 'ask-seen';
    return now >= this.#renewFrom ? 'renewal-due' : 'lease-seen';
  }

  #renew(): void {
    this.#options.host.agent.protect(LEASE_MINUTES, (answer) => this.#step(this.#judgeRenewal(answer)));
  }

  /** The input for a renewal's answer. A renewal without an answer is repeated at the next look. */
  #judgeRenewal(answer: AgentAnswer): GuardInput {
    const isRefused = answer.kind === 'failure' && answer.reason === 'DEPLOYMENT_BLOCKED';
    if (answer.kind !== 'protection' && !isRefused) return 'renewal-unanswered';
    this.#planRenewal();
    this.#refusals = isRefused ? this.#refusals + 1 : 0;
    if (!isRefused) return 'renewed';
    return this.#refusals >= REFUSALS_THAT_ASK ? 'renewal-refused-again' : 'renewal-refused';
  }

  /** After an early death longer, so that the autoscaler has time to give the task up. */
  #diedForMs(): number {
    return this.#now() - this.#daemonSince < DIED_FOR_MS ? 3 * DIED_FOR_MS : DIED_FOR_MS;
  }

  #end(code: number): void {
    this.#options.onEnd();
    this.#afterRange(EXIT_MS, () => this.#options.host.exit(code));
  }

  /** Milliseconds left of the protection; negative if there is none. */
  #leftMs(answer: AgentAnswer): number {
    if (answer.kind !== 'protection' || !answer.enabled) return Number.NEGATIVE_INFINITY;
    return (answer.expiresAt ?? 0) - this.#now();
  }

  #planRenewal(): void {
    this.#renewFrom = this.#now() + this.#options.random.whole(...RENEW_EVERY_MS);
  }

  #afterRange(range: Range, run: () => void): void {
    this.#after(this.#options.random.whole(...range), run);
  }

  #after(ms: number, run: () => void): void {
    this.#options.timeline.after(ms, run);
  }

  #now(): EpochMs {
    return this.#options.timeline.now();
  }
}
