/** Before anything is deployed: coderd has its own provisioners, AWS neither secrets nor a stack. */
import { join } from 'node:path';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { DAY_MS } from '../../lambda/decision/model/units.ts';
import { Random } from '../../simulator/base/random.ts';
import { serveWorld } from '../../simulator/serve.ts';
import { World } from '../../simulator/world.ts';
import { environmentOf } from '../function/environment.ts';
import { addScheduledWorkspaces, planBuilds } from './builds.ts';
import type { DeploymentOptions, RunningTry } from './deployment.ts';

/** Long enough for the builds of a usual day. */
const HISTORY_MS = 3 * DAY_MS;
const ADVANCE_MS = 200;
const BOOTSTRAP = '/cdk-bootstrap/hnb659fds/version';

const now = (): EpochMs => Date.now() as EpochMs;

export async function startBeforeSetup({ folder, seed, onEvent }: DeploymentOptions): Promise<RunningTry> {
  const start = plusMs(now(), -HISTORY_MS);
  const world = new World({ start, seed, pools: [], organizations: ['default', 'data'], readLagMs: 0 });
  world.secrets.forget(world.tokenSecretName);
  world.parameters.put(BOOTSTRAP, '28');
  world.coderd.addBuiltInDaemons(3);
  let announce = (_: string): void => {};
  addScheduledWorkspaces(world);
  planBuilds({ world, random: new Random(seed), announce: (line) => announce(line) });
  world.timeline.advanceTo(now());
  announce = onEvent;
  const served = await serveWorld(world, { clock: now });
  const timer = setInterval(() => world.timeline.advanceTo(now()), ADVANCE_MS);
  const { AUTOSCALER_CLUSTER: _, ...environment } = environmentOf(
    world,
    served,
    join(folder, 'autoscaler.yaml'),
  );
  const owner = world.coderd.addToken({
    canRead: 'all',
    isOwner: true,
    user: world.coderd.addUser({ username: 'olivia' }),
  });
  return {
    environment: { ...environment, CODER_SESSION_TOKEN: owner },
    jobs: world.coderd.jobs().length,
    close: async () => {
      clearInterval(timer);
      await served.close();
    },
  };
}
