/** The limit of changed counts a look. It applies last. */
import { by } from '../model/collections.ts';
import type { Action } from '../model/plan.ts';
import type { PoolDecision } from './decide-pool.ts';

/**
 * ECS takes 50 changes of services at once and then 5 a second, from the whole account
 * (docs/internals/aws.md §2). Some are left for others.
 */
const CHANGES_A_LOOK = 40;

/** Leaves the changes beyond the limit to the next look: the largest raises come first. */
export function limitChanges(decisions: readonly PoolDecision[]): readonly PoolDecision[] {
  const changes = decisions.flatMap(({ actions }) => actions.filter(isChange));
  if (changes.length <= CHANGES_A_LOOK) return decisions;
  const first = new Set<Action>(changes.toSorted(by(({ from, to }) => from - to)).slice(0, CHANGES_A_LOOK));
  return decisions.map((decision) => {
    const left = decision.actions.filter(isChange).find((change) => !first.has(change));
    return left === undefined ? decision : leftToNextLook(decision, left);
  });
}

type Change = Extract<Action, { readonly kind: 'set-desired' }>;

const isChange = (action: Action): action is Change => action.kind === 'set-desired';

/** Protections are renewed. Tasks drain once the count has been raised for their successors. */
function leftToNextLook(decision: PoolDecision, { from, to }: Change): PoolDecision {
  return {
    ...decision,
    to: from,
    actions: decision.actions.filter(({ kind }) => kind === 'protect'),
    later: { to, changes: CHANGES_A_LOOK },
  };
}
