/** KEDA's rule on ECS: one ScaledObject for each pool, as on Kubernetes. */
import type { Policy } from './policy.ts';
import { ScaledObject, type ScaledObjectSettings } from './scaled-object.ts';

/** `pollingInterval` and `--horizontal-pod-autoscaler-sync-period`: their defaults. */
const POLL_MS = 30_000;
const SYNC_MS = 15_000;

export type HpaSettings = Omit<ScaledObjectSettings, 'minReplicas'> & {
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
  rule:
    'Every 15 s it wants ceil(jobs / target) replicas and ignores changes within 10 %. It goes up by 4 or to twice the number at a time, and down to ' +
    'the highest number wanted in the last 300 s. Every 30 s KEDA wakes a pool at zero if it has a job, and scales it to zero after 300 s without ' +
    'one. Jobs are the pending and running ones that fit the pool; each pool counts for itself. Here replicas are tasks. ECS stops any task, ' +
    "busy or not, with SIGTERM, and SIGKILL 120 s later. Coder's chart has Kubernetes wait 600 s.",
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
