/**
 * The product's own adapters on a world in the same process. There are no sockets, but all limits,
 * schemas and pages of the APIs apply.
 */
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { License } from '../../lambda/adapters/coderd/license.ts';
import type { DesiredCounts } from '../../lambda/adapters/ecs/desired-counts.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import type { StockLearner } from '../../lambda/look/stock/stock-learner.ts';
import type { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { type Call, InProcessCoderd } from '../../simulator/coderd/routes/in-process.ts';
import { inProcessEcs, inProcessSecrets } from '../../simulator/in-process/aws-clients.ts';
import type { World } from '../../simulator/world.ts';
import type { FaultyConnection } from './world/faulty-connection.ts';

/** The ports of one invocation. */
export function portsOf(
  world: World,
  connections: {
    readonly aws: FaultyConnection;
    readonly secrets: SecretMetadata;
    readonly stock: StockLearner;
    readonly coderd: FaultyConnection;
    readonly scheduler: VirtualScheduler;
    /** What the process remembers from earlier invocations. */
    readonly counts: DesiredCounts;
  },
): Ports {
  const http = new InProcessCoderd(world.coderd, (answer) => connections.coderd.call(answer));
  const call: Call = (act) => connections.aws.call(act);
  return {
    ecs: new EcsAdapter(inProcessEcs(world.ecs, call), world.ecs.clusterName, {
      stack: world.stackName,
      counts: connections.counts,
    }),
    secrets: connections.secrets,
    stock: connections.stock,
    coderd: new CoderdAdapter(http, { license: new License(http) }),
    clock: { now: () => connections.scheduler.now(), sleep: (ms) => connections.scheduler.wait(ms) },
  };
}

/** The list of secrets of one instance of the function, which remembers what it read. */
export function secretsOf(world: World, connection: FaultyConnection): SecretMetadata {
  return new SecretMetadata(inProcessSecrets(world.secrets, (act) => connection.call(act)));
}
