/** How many tasks ECS's scheduler (lab/world/ecs/schedule.ts) finds too many, or missing. Which ones it stops is chance. */
import { startsOf, surplusOf } from '../../../world/ecs/schedule.ts';
import type { ModelTask } from './task.ts';

export type Scheduled = {
  readonly desired: number;
  /** One for each task. */
  readonly revisions: readonly { readonly deploymentId: ModelTask['revision'] }[];
  /** Whether old tasks count against the desired count: after an early success they may not. */
  readonly countsOld: boolean;
};

export function surplusIn({ revisions, ...service }: Scheduled): number {
  return surplusOf(serviceOf(service), revisions);
}

export function missingIn({ revisions, ...service }: Scheduled): number {
  return startsOf(serviceOf(service), revisions).start;
}

/** As the stack sets it (docs/internals/architecture.md, "The lease"). */
function serviceOf({ desired, countsOld }: Omit<Scheduled, 'revisions'>) {
  return { desiredCount: desired, primaryId: 'new', maximumPercent: 100, countsOld };
}
