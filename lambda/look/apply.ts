/**
 * Applies the actions of a plan in order: raises, drain requests and protections, lower counts.
 * Pools run in parallel. Within a pool actions run one after the other, and a failure skips the
 * rest.
 */
import type { PoolName, ServiceArn, TaskArn } from '../decision/model/brands.ts';
import { batchesOf } from '../decision/model/collections.ts';
import { messageOf } from '../decision/model/message-of.ts';
import type { Action } from '../decision/model/plan.ts';
import type { Ecs, Refusal } from './ports.ts';

/** The result of a plan's actions. */
export type Outcome = {
  readonly applied: readonly Action[];
  readonly refused: readonly (Refusal & { readonly pool: PoolName })[];
  readonly failures: readonly Failure[];
};

export type Failure = {
  readonly message: string;
  readonly cause?: unknown;
  /** Absent if the failure does not belong to one pool. */
  readonly pool?: PoolName;
};

/** ECS protects at most this many tasks a call (docs/internals/aws.md §1). */
const PROTECTED_A_CALL = 10;

/**
 * Applies all actions until `signal` aborts. Does not throw: a pool that fails is in `failures`,
 * and the other pools continue.
 */
export async function apply(
  actions: readonly Action[],
  ecs: Ecs,
  { signal, willSet }: ApplyOptions = {},
): Promise<Outcome> {
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
          const refused = await call.run(ecs, willSet);
          outcome.applied.push(...call.actions);
          outcome.refused.push(...refused.map((refusal) => ({ ...refusal, pool: call.pool })));
        } catch (cause) {
          failed.add(call.pool);
          outcome.failures.push({
            message: `${call.description}: ${messageOf(cause)}`,
            cause,
            pool: call.pool,
          });
        }
      }),
    );
  }
  return outcome;
}

export type ApplyOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Called before each write of a count, because its answer may be lost. */
  readonly willSet?: (service: ServiceArn, count: number) => void;
};

type EcsCall = {
  readonly pool: PoolName;
  readonly description: string;
  readonly actions: readonly Action[];
  readonly run: (ecs: Ecs, willSet: ApplyOptions['willSet']) => Promise<readonly Refusal[]>;
};

type Write = Extract<Action, { readonly task: TaskArn }>;

function stagesOf(actions: readonly Action[]): readonly (readonly EcsCall[])[] {
  const counts = actions.filter((action) => action.kind === 'set-desired');
  const writes = actions.filter((action) => action.kind !== 'set-desired');
  return [
    counts.filter(({ from, to }) => to > from).map(setDesired),
    [...Map.groupBy(writes, ({ pool, kind }) => `${pool} ${kind}`).values()].flatMap((alike) =>
      batchesOf(alike, PROTECTED_A_CALL).flatMap(protectionCall),
    ),
    counts.filter(({ from, to }) => to < from).map(setDesired),
  ];
}

function setDesired(action: Extract<Action, { kind: 'set-desired' }>): EcsCall {
  return {
    pool: action.pool,
    description: `setting the desired count of pool "${action.pool}" from ${action.from} to ${action.to}`,
    actions: [action],
    run: async (ecs, willSet) => {
      willSet?.(action.service, action.to);
      await ecs.setDesired(action.service, action.to);
      return [];
    },
  };
}

function protectionCall(actions: readonly Write[]): readonly EcsCall[] {
  const [first] = actions;
  if (first === undefined) return [];
  const tasks = actions.map(({ task }) => task);
  const isDrain = first.kind === 'ask-to-leave';
  const description = isDrain
    ? `requesting ${tasks.length} task(s) of pool "${first.pool}" to drain`
    : `protecting ${tasks.length} task(s) of pool "${first.pool}"`;
  return [
    {
      pool: first.pool,
      description,
      actions,
      run: (ecs) => (isDrain ? ecs.requestDrain(tasks) : ecs.protect(tasks)),
    },
  ];
}
