/**
 * The arithmetic of the Kubernetes HorizontalPodAutoscaler for an external metric with a target average value (what KEDA makes of each
 * trigger), as in kubernetes/kubernetes, pkg/controller/podautoscaler/{replica_calculator,horizontal}.go, with the defaults of
 * pkg/apis/autoscaling/v2/defaults.go and of the controller.
 */
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

/** What the metric alone asked for, at one sync. */
export type Recommendation = { readonly at: EpochMs; readonly replicas: number };

/** `--horizontal-pod-autoscaler-tolerance`. */
const TOLERANCE = 0.1;
/** The two policies of `scaleUp`, of which the greater counts; both are for 15 s, which is how often the controller looks. */
const MOST_PODS_ADDED = 4;
const MOST_GROWTH = 2;

/** GetExternalPerPodMetricReplicas: as many as the metric needs, or as many as there are where that is nearly the same. */
export function recommend(given: {
  readonly current: number;
  readonly metric: number;
  readonly target: number;
}): number {
  const { current, metric, target } = given;
  const ratio = metric / (target * current);
  return Math.abs(1 - ratio) <= TOLERANCE ? current : Math.ceil(metric / target);
}

/** stabilizeRecommendationWithBehaviors: down to no less than was recommended in the window; up at once. */
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

/** convertDesiredReplicasWithBehaviorRate: up by 4 or to the double at a time, down as far as `min`. */
export function limitChange(
  replicas: number,
  given: { readonly current: number; readonly min: number; readonly max: number },
): number {
  const { current, min, max } = given;
  if (replicas <= current) return Math.max(replicas, min);
  return Math.min(replicas, max, Math.max(current + MOST_PODS_ADDED, current * MOST_GROWTH));
}
