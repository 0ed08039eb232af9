/** KEDA's rule on ECS: one ScaledObject for each pool, as on Kubernetes. */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import { limitChange, type Recommendation, recommend, stabilize } from './hpa-rule.ts';
import type { Policy, PolicyContext } from './policy.ts';

/** `pollingInterval` and `--horizontal-pod-autoscaler-sync-period`: their defaults. */
const POLL_MS = 30_000;
const SYNC_MS = 15_000;

type HpaSettings = Omit<ScaledObjectSettings, 'minReplicas'> & {
  /** `minReplicas`, in percent of the pool's `max`. */
  readonly minPercent: number;
};

export const HPA: Policy<HpaSettings> = {
  id: 'keda',
  title: () => 'KEDA on ECS',
  source: {
    title: 'Kubernetes HPA, driven by KEDA',
    url: 'https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/',
  },
  canKill: true,
  grid: () => GRID,
  start: (context, { minPercent, ...settings }) => {
    const objects = context.config.pools.map((pool) => {
      const minReplicas = Math.ceil((minPercent * pool.max) / 100);
      return new ScaledObject(context, pool, { ...settings, minReplicas });
    });
    const look = (act: (object: ScaledObject) => void): void => {
      context.count({ ticks: 1, ecs: objects.length });
      for (const object of objects) act(object);
    };
    const { timeline } = context.world;
    timeline.every(POLL_MS, () => look((object) => object.poll()), 0);
    // two independent controllers: half a period apart, as they are on average
    timeline.every(SYNC_MS, () => look((object) => object.sync()), SYNC_MS / 2);
  },
};

const DEFAULTS: HpaSettings = { target: 1, minPercent: 0, stabilizationS: 300, cooldownS: 300 };

const GRID: readonly HpaSettings[] = [
  DEFAULTS,
  { ...DEFAULTS, stabilizationS: 1800, cooldownS: 1800 },
  { ...DEFAULTS, minPercent: 1 },
  { ...DEFAULTS, minPercent: 1, target: 0.8 },
  { ...DEFAULTS, minPercent: 1, stabilizationS: 900 },
  { ...DEFAULTS, minPercent: 1, stabilizationS: 3600 },
  { ...DEFAULTS, minPercent: 1, target: 0.5, stabilizationS: 3600 },
  { ...DEFAULTS, minPercent: 5, target: 0.5 },
  { ...DEFAULTS, minPercent: 5, target: 0.8, stabilizationS: 3600 },
  { ...DEFAULTS, minPercent: 10, target: 0.5, stabilizationS: 3600 },
  { ...DEFAULTS, minPercent: 20, target: 0.5, stabilizationS: 3600 },
  { ...DEFAULTS, minPercent: 40, target: 0.5, stabilizationS: 3600 },
];

/**
 * One ScaledObject of KEDA and the HorizontalPodAutoscaler that it creates. KEDA's own loop scales
 * from and to zero (kedacore/keda, pkg/scaling/executor/scale_scaledobjects.go); the HPA scales
 * above that. Each ScaledObject counts jobs for itself.
 */
type ScaledObjectSettings = {
  /** Mean jobs per replica. */
  readonly target: number;
  readonly minReplicas: number;
  /** Seconds of the stabilization window: the HPA scales down to the highest recommendation in it. */
  readonly stabilizationS: number;
  /** Seconds without a job before KEDA scales to zero. */
  readonly cooldownS: number;
};

class ScaledObject {
  readonly #context: PolicyContext;
  readonly #pool: { readonly name: string; readonly max: number };
  readonly #settings: ScaledObjectSettings;
  #past: readonly Recommendation[] = [];
  #lastActiveAt: EpochMs | undefined;

  constructor(
    context: PolicyContext,
    pool: { readonly name: string; readonly max: number },
    settings: ScaledObjectSettings,
  ) {
    this.#context = context;
    this.#pool = pool;
    this.#settings = settings;
  }

  /** KEDA's loop. It changes nothing if it cannot read the trigger, as no `fallback` is configured. */
  poll(): void {
    const metric = this.#metric();
    if (metric === undefined) return;
    const { minReplicas, cooldownS } = this.#settings;
    if (metric > 0) this.#activate();
    else if (this.#current < minReplicas) this.#set(minReplicas, 'fewer than minReplicaCount');
    else if (minReplicas === 0 && this.#isCool()) this.#set(0, `no job for ${cooldownS} s`);
  }

  /** The HPA's loop. It does nothing without replicas, or if it cannot read the metric. */
  sync(): void {
    const current = this.#current;
    const metric = current === 0 ? undefined : this.#metric();
    if (metric === undefined) return;
    const { target, minReplicas, stabilizationS } = this.#settings;
    const now = this.#context.world.timeline.now();
    const windowMs = stabilizationS * 1000;
    const replicas = recommend({ current, metric, target });
    const stable = stabilize(replicas, { current, now, windowMs, past: this.#past });
    this.#past = [...this.#past.filter(({ at }) => at > now - windowMs), { at: now, replicas }];
    const bounds = { current, min: Math.max(1, minReplicas), max: this.#pool.max };
    this.#set(limitChange(stable, bounds), `${metric} jobs, ${target} a replica`);
  }

  #activate(): void {
    this.#lastActiveAt = this.#context.world.timeline.now();
    if (this.#current === 0) this.#set(Math.max(1, this.#settings.minReplicas), 'a job came');
  }

  #isCool(): boolean {
    if (this.#lastActiveAt === undefined) return true;
    return this.#lastActiveAt + this.#settings.cooldownS * 1000 < this.#context.world.timeline.now();
  }

  /** Undefined during an outage of coderd. */
  #metric(): number | undefined {
    this.#context.count({ coderd: 1 });
    if (this.#context.isCoderdDown()) return undefined;
    const { pending, running } = this.#context.demandOf(this.#pool.name);
    return pending + running;
  }

  get #current(): number {
    return this.#context.world.service(this.#pool.name).state.desiredCount;
  }

  #set(count: number, why: string): void {
    this.#context.setDesired(this.#pool.name, count, why);
  }
}
