/**
 * The ports of the autoscaler on a world in this process: the product's own adapters, without
 * sockets. Backtests, random worlds, tests and examples differ only in how calls come through, and
 * in what the process remembers.
 */
import { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import type { Coderd, Ports, SecretList } from '../../lambda/look/ports.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import type { VirtualScheduler } from '../base/virtual-scheduler.ts';
import type { World } from '../world.ts';
import { type AwsCall, atOnce, inProcessEcs, inProcessSecrets } from './aws-clients.ts';
import { parseOnce } from './parse-once.ts';

export type InProcessOptions = {
  readonly scheduler: VirtualScheduler;
  readonly coderd: Coderd;
  /** Makes each call to ECS. @default at once */
  readonly ecs?: AwsCall;
  /** @default read at once, and remembered */
  readonly secrets?: SecretList;
  /** @default a new one */
  readonly stock?: StockLearner | undefined;
  readonly record?: Ports['record'];
  /** The counts that earlier invocations of this process saw and set. @default none */
  readonly counts?: DesiredCounts;
};

/** Returns a function that gives the ports of each invocation of one process. */
export function inProcessPorts(world: World, options: InProcessOptions): () => Ports {
  const { scheduler, coderd, ecs = atOnce, record } = options;
  const { stock = new StockLearner(), counts = new DesiredCounts() } = options;
  const secrets = options.secrets ?? new SecretMetadata(inProcessSecrets(world.secrets));
  const client = inProcessEcs(world.ecs, ecs);
  const known = { stack: world.stackName, counts, parse: parseOnce };
  const clock = { now: () => scheduler.now(), sleep: (ms: number) => scheduler.wait(ms) };
  return () => ({
    ...{ coderd, stock, record, secrets, clock },
    ecs: new EcsAdapter(client, world.ecs.clusterName, known),
  });
}
