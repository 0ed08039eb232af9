/** Runs the autoscaler itself as a policy. Its function has outages of coderd. */
import type { Config } from '../../../lambda/decision/model/config.ts';
import { reasonIn } from '../../../lambda/explain/reason-text.ts';
import { InvocationError } from '../../../lambda/look/invocation.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { StartedWaits } from '../../../lambda/look/waits/wait-record.ts';
import { Random } from '../../world/base/random.ts';
import type { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { NoAnswer } from '../../world/coderd/routes/in-process.ts';
import { InProcessFunction, type Invoked } from '../../world/in-process/function.ts';
import { atOnce } from '../../world/in-process/ports.ts';
import type { World } from '../../world/world.ts';
import type { PolicyContext } from '../policies/policy.ts';

type AutoscalerOptions = {
  readonly world: World;
  readonly scheduler: VirtualScheduler;
  readonly config: Config;
  /** Seed of the times at which Lambda ends a process. */
  readonly seed: number;
  readonly context: Pick<PolicyContext, 'isCoderdDown'>;
  /** `waits`: the waits of the jobs that started since the last look. */
  readonly onLook: (look: LookResult, waits: StartedWaits) => void;
  readonly onError: (error: unknown) => void;
};

export function runAutoscaler(options: AutoscalerOptions): void {
  const { world, scheduler, config, context, onLook, onError } = options;
  let refusedAt = Number.NEGATIVE_INFINITY;
  const line = {
    coderd: async <T>(answer: () => T): Promise<T> => {
      if (!context.isCoderdDown()) return answer();
      refusedAt = scheduler.now();
      throw new NoAnswer('the world has an outage');
    },
    ecs: atOnce,
    others: atOnce,
  };
  const onInvoked = ({ error, startedAt }: Invoked): void => {
    // during an outage of coderd an invocation fails as intended; any other failure is an error
    const isOutage = error instanceof InvocationError && refusedAt >= startedAt;
    if (error !== undefined && !isOutage) onError(error);
  };
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(options.seed),
    line: () => line,
    onLook: (look, _, waits) => {
      onLook(look, waits);
    },
    onInvoked,
  });
  void autoscaler.run();
}

/** The changes of desired counts that a look made, each with the reasons of its pool as sentences. */
export function changesOf({ plan, outcome }: LookResult) {
  return outcome.applied.flatMap((action) => {
    if (action.kind !== 'set-desired') return [];
    const pool = plan.pools.find(({ name }) => name === action.pool);
    const { from, to } = action;
    return [{ pool: action.pool, from, to, why: pool?.why.map(reasonIn(pool.daemons)) ?? [] }];
  });
}
