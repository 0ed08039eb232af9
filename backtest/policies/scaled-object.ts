/**
 * One ScaledObject of KEDA and the HorizontalPodAutoscaler that it makes: KEDA's own loop wakes the pool and puts it to sleep
 * (kedacore/keda, pkg/scaling/executor/scale_scaledobjects.go), the HPA does all in between. Each ScaledObject counts for itself.
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { limitChange, type Recommendation, recommend, stabilize } from './hpa-rule.ts';
import type { Scene } from './policy.ts';

export type ScaledObjectSettings = {
  /** Jobs a replica, on average. */
  readonly target: number;
  readonly minReplicas: number;
  /** Seconds: an HPA goes down to no less than it would have wanted in so long. */
  readonly stabilizationS: number;
  /** Seconds without a job until KEDA scales to zero. */
  readonly cooldownS: number;
};

export class ScaledObject {
  readonly #scene: Scene;
  readonly #pool: { readonly name: string; readonly max: number };
  readonly #settings: ScaledObjectSettings;
  #past: readonly Recommendation[] = [];
  #lastActiveAt: EpochMs | undefined;

  constructor(
    scene: Scene,
    pool: { readonly name: string; readonly max: number },
    settings: ScaledObjectSettings,
  ) {
    this.#scene = scene;
    this.#pool = pool;
    this.#settings = settings;
  }

  /** KEDA's loop. A trigger that cannot be read changes nothing as long as no `fallback` is configured. */
  poll(): void {
    const metric = this.#metric();
    if (metric === undefined) return;
    const { minReplicas, cooldownS } = this.#settings;
    if (metric > 0) this.#activate();
    else if (this.#current < minReplicas) this.#set(minReplicas, 'fewer than minReplicaCount');
    else if (minReplicas === 0 && this.#isCool()) this.#set(0, `no job for ${cooldownS} s`);
  }

  /** The HPA's loop: it rests while there are no replicas, and a metric that cannot be read changes nothing. */
  sync(): void {
    const current = this.#current;
    const metric = current === 0 ? undefined : this.#metric();
    if (metric === undefined) return;
    const { target, minReplicas, stabilizationS } = this.#settings;
    const now = this.#scene.world.timeline.now();
    const windowMs = stabilizationS * 1000;
    const replicas = recommend({ current, metric, target });
    const stable = stabilize(replicas, { current, now, windowMs, past: this.#past });
    this.#past = [...this.#past.filter(({ at }) => at > now - windowMs), { at: now, replicas }];
    const bounds = { current, min: Math.max(1, minReplicas), max: this.#pool.max };
    this.#set(limitChange(stable, bounds), `${metric} jobs, ${target} a replica`);
  }

  #activate(): void {
    this.#lastActiveAt = this.#scene.world.timeline.now();
    if (this.#current === 0) this.#set(Math.max(1, this.#settings.minReplicas), 'a job came');
  }

  #isCool(): boolean {
    if (this.#lastActiveAt === undefined) return true;
    return this.#lastActiveAt + this.#settings.cooldownS * 1000 < this.#scene.world.timeline.now();
  }

  /** Undefined while it cannot be read. */
  #metric(): number | undefined {
    this.#scene.count({ coderd: 1 });
    if (this.#scene.isCoderdDown()) return undefined;
    const { pending, running } = this.#scene.demandOf(this.#pool.name);
    return pending + running;
  }

  get #current(): number {
    return this.#scene.world.service(this.#pool.name).state.desiredCount;
  }

  #set(count: number, why: string): void {
    this.#scene.setDesired(this.#pool.name, count, why);
  }
}
