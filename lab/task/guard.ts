/**
 * The guard: first process of the provisioner's container (design.md, "The lease"). It decides when its daemon may be stopped:
 *
 *   leasing   takes the lease; starts the daemon only once it has read that the lease is there; exits after 10 min without one
 *   working   looks every 30 s, renews every 10 to 20 min; drains when asked to, or when it can't trust its lease any more
 *   draining  has sent SIGTERM to the daemon, which finishes its job however long that takes
 *   left      the daemon has exited, the protection is released: waits to be stopped, exits after 10 min
 *   died      the daemon died unasked: releases, waits 60 s, exits with its code
 *   stopping  ECS stops the task: SIGTERM is passed on, the guard waits for the daemon
 *
 * Beware: answers of the agent come late, so each is judged by the phase in which it arrives.
 */
import type { EpochMs } from '../../lambda/core/brands.ts';
import type { AgentAnswer, Container, ContainerHost } from '../ecs/container.ts';
import type { Range } from '../ecs/latencies.ts';
import type { Random } from '../random.ts';
import type { Timeline } from '../timeline.ts';
import type { Daemon } from './daemon.ts';

export type GuardPhase = 'leasing' | 'working' | 'draining' | 'left' | 'died' | 'stopping' | 'ended';

export type GuardOptions = {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly host: ContainerHost;
  /** Starts the daemon under its name; `onExit` comes when its process has ended. */
  readonly startDaemon: (name: string, onExit: (code: number) => void) => Daemon;
  readonly pool: string;
  readonly onEnd: () => void;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** What the guard takes. */
const LEASE_MINUTES = 48 * 60;
/** What means "leaving": the autoscaler's ask, or a guard that drains by itself. */
const LEAVING_MINUTES = 23 * 60;
/** A lease with less left than this is an ask. */
const ASKED_BELOW_MS = 24 * HOUR_MS;
const LOOK_EVERY_MS: Range = [20_000, 40_000];
const RENEW_EVERY_MS: Range = [10 * MINUTE_MS, 20 * MINUTE_MS];
const LEASE_AGAIN_MS: Range = [5_000, 15_000];
const LEASE_WITHIN_MS = 10 * MINUTE_MS;
const BLIND_FOR_MS = 6 * HOUR_MS;
const REFUSALS_THAT_ASK = 2;
const LEFT_FOR_MS = 10 * MINUTE_MS;
const DIED_FOR_MS = MINUTE_MS;
const EXIT_MS: Range = [10, 100];

export class Guard implements Container {
  readonly #options: GuardOptions;
  #phase: GuardPhase = 'leasing';
  #daemon: Daemon | undefined;
  #seenAt: EpochMs;
  #renewFrom = 0;
  #refusals = 0;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#seenAt = options.timeline.now();
    this.#after(LEASE_WITHIN_MS, () => {
      if (this.#phase === 'leasing') this.#end(1);
    });
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

  /** SIGTERM by ECS. */
  terminate(): void {
    if (this.#phase === 'working' || this.#phase === 'draining') {
      this.#phase = 'stopping';
      this.#daemon?.terminate();
    } else if (this.#phase !== 'stopping') this.#end(0);
  }

  /** SIGKILL by ECS. */
  kill(): void {
    this.#phase = 'ended';
    this.#daemon?.kill();
    this.#options.onEnd();
  }

  /** Whatever the answer to the write was, the look decides: an answer may be lost and the lease there. */
  #lease(): void {
    const { agent } = this.#options.host;
    if (this.#phase !== 'leasing') return;
    agent.protect(LEASE_MINUTES, () => agent.look((answer) => this.#leaseSeen(answer)));
  }

  #leaseSeen(answer: AgentAnswer): void {
    if (this.#phase !== 'leasing') return;
    const mayStart = this.#isLease(answer) && this.#options.host.agent.desiredStatus() === 'RUNNING';
    if (mayStart) this.#startDaemon();
    else this.#afterRange(LEASE_AGAIN_MS, () => this.#lease());
  }

  #startDaemon(): void {
    const { host, pool, startDaemon } = this.#options;
    this.#phase = 'working';
    this.#seenAt = this.#now();
    this.#planRenewal();
    this.#daemon = startDaemon(`${pool}-${host.taskId}`, (code) => this.#daemonExited(code));
    this.#lookLater();
  }

  #lookLater(): void {
    this.#afterRange(LOOK_EVERY_MS, () => {
      if (this.#looks()) this.#options.host.agent.look((answer) => this.#seen(answer));
    });
  }

  #looks(): boolean {
    return this.#phase !== 'stopping' && this.#phase !== 'ended';
  }

  #seen(answer: AgentAnswer): void {
    if (this.#phase === 'working') this.#judge(answer);
    else if (this.#phase === 'draining') this.#showLeaving(answer);
    else if (this.#phase === 'left' || this.#phase === 'died') this.#releaseAgain(answer);
    if (this.#looks()) this.#lookLater();
  }

  #judge(answer: AgentAnswer): void {
    if (answer.kind !== 'protection') {
      if (this.#now() - this.#seenAt >= BLIND_FOR_MS) this.#drain();
      return;
    }
    this.#seenAt = this.#now();
    if (!answer.enabled) this.#takeLeaving(() => this.#drain());
    else if (!this.#isLease(answer)) this.#drain();
    else if (this.#now() >= this.#renewFrom) this.#renew();
  }

  #renew(): void {
    this.#options.host.agent.protect(LEASE_MINUTES, (answer) => {
      if (this.#phase !== 'working') return;
      if (answer.kind === 'protection') this.#refusals = 0;
      else if (answer.kind === 'failure' && answer.reason === 'DEPLOYMENT_BLOCKED') this.#refusals++;
      else return;
      this.#planRenewal();
      if (this.#refusals >= REFUSALS_THAT_ASK) this.#drain();
    });
  }

  #drain(): void {
    if (this.#phase !== 'working') return;
    this.#phase = 'draining';
    this.#daemon?.terminate();
  }

  /** A guard that drains by itself is to be seen as leaving; and its lease must not lapse under the job. */
  #showLeaving(answer: AgentAnswer): void {
    if (answer.kind === 'protection' && (!answer.enabled || this.#isLease(answer)))
      this.#takeLeaving(() => {});
  }

  #takeLeaving(then: () => void): void {
    this.#options.host.agent.protect(LEAVING_MINUTES, then);
  }

  #daemonExited(code: number): void {
    if (this.#phase === 'draining') this.#release('left', LEFT_FOR_MS, 0);
    else if (this.#phase === 'working') this.#release('died', DIED_FOR_MS, code);
    else if (this.#phase === 'stopping') this.#end(code);
  }

  #release(phase: 'left' | 'died', waitMs: number, exitCode: number): void {
    this.#phase = phase;
    this.#options.host.agent.release(() => {});
    this.#after(waitMs, () => this.#end(exitCode));
  }

  #releaseAgain(answer: AgentAnswer): void {
    if (answer.kind === 'protection' && answer.enabled) this.#options.host.agent.release(() => {});
  }

  #end(code: number): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#options.onEnd();
    this.#afterRange(EXIT_MS, () => this.#options.host.exit(code));
  }

  /** Enabled, with 24 h or more left: neither gone nor an ask. */
  #isLease(answer: AgentAnswer): boolean {
    if (answer.kind !== 'protection' || !answer.enabled) return false;
    return (answer.expiresAt ?? 0) - this.#now() >= ASKED_BELOW_MS;
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
