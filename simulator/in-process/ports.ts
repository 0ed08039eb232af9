/**
 * The ports of the autoscaler on a world in this process: the product's own adapters, without
 * sockets. Backtests, random worlds, tests and examples differ only in how calls come through, and
 * in what the process remembers.
 */
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../lambda/adapters/coderd/license.ts';
import { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import { parseOnce } from '../base/parse-once.ts';
import type { VirtualScheduler } from '../base/virtual-scheduler.ts';
import { type Call, InProcessCoderd } from '../coderd/routes/in-process.ts';
import type { World } from '../world.ts';
import { type AwsCall, atOnce, inProcessEcs, inProcessSecrets } from './aws-clients.ts';

export type InProcessOptions = {
  readonly scheduler: VirtualScheduler;
  /** Makes each request to coderd. @default at once */
  readonly coderd?: Call;
  /** Makes each request to ECS. @default at once */
  readonly ecs?: AwsCall;
  /** Makes each request to Secrets Manager. @default at once */
  readonly secrets?: AwsCall;
  /** @default a new one */
  readonly stock?: StockLearner;
  readonly relay?: Ports['relay'];
  readonly record?: Ports['record'];
};

/** Returns a function that gives the ports of each invocation of one process. */
export function inProcessPorts(world: World, options: InProcessOptions): () => Ports {
  const { scheduler, coderd: call = atOnce, ecs = atOnce, secrets = atOnce, relay, record } = options;
  const http = new InProcessCoderd(world.coderd, call);
  const coderd = new CoderdAdapter(http, { license: new License(http) });
  const metadata = new SecretMetadata(inProcessSecrets(world.secrets, secrets));
  const { stock = new StockLearner() } = options;
  const client = inProcessEcs(world.ecs, ecs);
  const remembered = { stack: world.stackName, counts: new DesiredCounts(), parse: parseOnce };
  const clock = { now: () => scheduler.now(), sleep: (ms: number) => scheduler.wait(ms) };
  return () => ({
    coderd,
    ecs: new EcsAdapter(client, world.ecs.clusterName, remembered),
    secrets: metadata,
    stock,
    relay,
    record,
    clock,
  });
}
