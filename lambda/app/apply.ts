/**
 * Act: the actions of a plan, in the plan's order: raises, asks, lower counts. Pools side by side; within a pool
 * one after the other, and what fails ends that pool's turn.
 */
import type { PoolName, TaskArn } from '../core/brands.ts';
import type { Action } from '../core/plan.ts';
import type { Ecs, Refusal } from './ports.ts';

/** What became of a plan's actions. */
export type Outcome = {
  readonly applied: readonly Action[];
  readonly refused: readonly (Refusal & { readonly pool: PoolName })[];
  readonly failures: readonly Failure[];
};

export type Failure = { readonly message: string; readonly cause?: unknown };

/** ECS protects at most this many tasks a call (aws-facts §1). */
const ASKS_A_CALL = 10;

/** Applies all actions, until `signal` says that it is too late. Doesn't throw: a pool that fails is in `failures`, and the others go on. */
export async function apply(actions: readonly Action[], ecs: Ecs, signal?: AbortSignal): Promise<Outcome> {
  const failed = new Set<PoolName>();
  const outcome: { applied: Action[]; refused: (Refusal & { pool: PoolName })[]; failures: Failure[] } = {
    applied: [],
    refused: [],
    failures: [],
  };
  for (const stage of stagesOf(actions)) {
    await Promise.all(
      stage.map(async (call) => {
        if (failed.has(call.pool) || signal?.aborted) return;
        try {
          const refused = await call.run(ecs);
          outcome.applied.push(...call.actions);
          outcome.refused.push(...refused.map((refusal) => ({ ...refusal, pool: call.pool })));
        } catch (cause) {
          failed.add(call.pool);
          outcome.failures.push({ message: `${call.what}: ${messageOf(cause)}`, cause });
        }
      }),
    );
  }
  return outcome;
}

/** The message of anything that was thrown. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

type Call = {
  readonly pool: PoolName;
  readonly what: string;
  readonly actions: readonly Action[];
  readonly run: (ecs: Ecs) => Promise<readonly Refusal[]>;
};

function stagesOf(actions: readonly Action[]): readonly (readonly Call[])[] {
  const raises: Call[] = [];
  const asks = new Map<PoolName, Extract<Action, { kind: 'ask-to-leave' }>[]>();
  const lowers: Call[] = [];
  for (const action of actions) {
    switch (action.kind) {
      case 'set-desired':
        (action.to > action.from ? raises : lowers).push(setDesired(action));
        break;
      case 'ask-to-leave':
        asks.set(action.pool, [...(asks.get(action.pool) ?? []), action]);
        break;
      default:
        action satisfies never;
    }
  }
  return [raises, [...asks.values()].flatMap(askCalls), lowers];
}

function setDesired(action: Extract<Action, { kind: 'set-desired' }>): Call {
  return {
    pool: action.pool,
    what: `setting the desired count of pool "${action.pool}" from ${action.from} to ${action.to}`,
    actions: [action],
    run: async (ecs) => {
      await ecs.setDesired(action.service, action.to);
      return [];
    },
  };
}

function askCalls(actions: readonly Extract<Action, { kind: 'ask-to-leave' }>[]): readonly Call[] {
  const calls: Call[] = [];
  for (let start = 0; start < actions.length; start += ASKS_A_CALL) {
    const batch = actions.slice(start, start + ASKS_A_CALL);
    const [first] = batch;
    if (first === undefined) continue;
    const tasks: readonly TaskArn[] = batch.map(({ task }) => task);
    calls.push({
      pool: first.pool,
      what: `asking ${tasks.length} task(s) of pool "${first.pool}" to leave`,
      actions: batch,
      run: (ecs) => ecs.askToLeave(tasks),
    });
  }
  return calls;
}
