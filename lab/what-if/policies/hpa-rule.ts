/**
 * Computes the replicas of the Kubernetes HorizontalPodAutoscaler for an external metric with a
 * target average value, which KEDA creates for each trigger. As in kubernetes/kubernetes,
 * pkg/controller/podautoscaler/{replica_calculator,horizontal}.go, with the defaults of
 * pkg/apis/autoscaling/v2/defaults.go and of the controller.
 */
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';

/** The replicas that the metric alone asked for, at one sync. */
export type Recommendation = { readonly at: EpochMs; readonly replicas: number };

/** `--horizontal-pod-autoscaler-tolerance`. */
const TOLERANCE = 0.1;
/** The two policies of `scaleUp`, for 15 s, the sync period of the controller. The larger result counts. */
const MOST_PODS_ADDED = 4;
const MOST_GROWTH = 2;

/** GetExternalPerPodMetricReplicas: what the metric needs. Within the tolerance the number stays. */
export function recommend(given: {
  readonly current: number;
  readonly metric: number;
  readonly target: number;
}): number {
  const { current, metric, target } = given;
  const ratio = metric / (target * current);
  return Math.abs(1 - ratio) <= TOLERANCE ? current : Math.ceil(metric / target);
}

/** stabilizeRecommendationWithBehaviors: down to the highest recommendation of the window, up at once. */
export function stabilize(
  replicas: number,
  given: {
    readonly current: number;
    readonly now: EpochMs;
    readonly windowMs: number;
    readonly past: readonly Recommendation[];
  },
): number {
  const { current, now, windowMs, past } = given;
  if (replicas >= current) return replicas;
  const recent = past.filter(({ at }) => at > now - windowMs);
  return Math.max(replicas, ...recent.map((recommendation) => recommendation.replicas));
}

/** convertDesiredReplicasWithBehaviorRate: up by 4 or to twice the number, down to `min` at once. */
export function limitChange(
  replicas: number,
  given: { readonly current: number; readonly min: number; readonly max: number },
): number {
  const { current, min, max } = given;
  if (replicas <= current) return Math.max(replicas, min);
  return Math.min(replicas, max, Math.max(current + MOST_PODS_ADDED, current * MOST_GROWTH));
}
