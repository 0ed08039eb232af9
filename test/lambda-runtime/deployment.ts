/**
 * The surroundings of the function: a coderd that can stop answering, an ECS with two empty pools,
 * and the bundle.
 */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { bundleFunction } from '../../infra/constructs/bundle.ts';
import { coderdHandler } from '../../lab/world/coderd/routes/http.ts';
import { serveWorld } from '../../lab/world/serve.ts';
import { World } from '../../lab/world/world.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';

const OUT_DIR = fileURLToPath(new URL('../../dist/lambda-runtime', import.meta.url));

const POOLS = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 },
  { name: 'data', organization: 'data', tags: { team: 'data' }, desiredCount: 0 },
];

export type RuntimeDeployment = {
  readonly world: World;
  /** The folder of the function's code, as Lambda has it. */
  readonly taskRoot: string;
  /** The function's environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly submitJobs: (organization: string, count: number) => void;
  /** Stops all answers of coderd, or lets it answer again. */
  readonly setSilent: (silent: boolean) => void;
  readonly close: () => Promise<void>;
};

/** Serves a world that moves with real time, and bundles the function for it. */
export async function deploy(): Promise<RuntimeDeployment> {
  const world = new World({ start: Date.now() as EpochMs, seed: 1, pools: POOLS });
  const served = await serveWorld(world, { clock: () => Date.now() as EpochMs });
  const coderd = await serveCoderd(world);
  const taskRoot = bundle(coderd.url);
  return {
    world,
    taskRoot,
    environment: {
      AUTOSCALER_CLUSTER: world.ecs.clusterName,
      AWS_ENDPOINT_URL_ECS: served.awsUrl,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: served.awsUrl,
      NODE_OPTIONS: '--enable-source-maps',
      POWERTOOLS_SERVICE_NAME: 'coder-provisioner-autoscaler',
      POWERTOOLS_METRICS_NAMESPACE: 'CoderProvisionerAutoscaler',
    },
    submitJobs: (organization, count) => submitJobs(world, organization, count),
    setSilent: coderd.setSilent,
    close: async () => {
      coderd.close();
      await served.close();
    },
  };
}

async function serveCoderd(world: World) {
  const handle = coderdHandler(world.coderd);
  let silent = false;
  const server = createServer((request, response) => {
    world.timeline.advanceTo(Date.now() as EpochMs);
    if (!silent) handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('serving coderd: no port was given');
  return {
    url: `http://127.0.0.1:${address.port}`,
    setSilent: (value: boolean): void => {
      silent = value;
    },
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function bundle(coderdUrl: string): string {
  mkdirSync(OUT_DIR, { recursive: true });
  const configFile = join(OUT_DIR, 'autoscaler.yaml');
  const config = {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    looks: { every: '1s' },
    pools: POOLS.map(({ name, organization, tags }) => ({
      name,
      organization,
      tags,
      key: { secret: `coder/keys/${name}` },
      min: 0,
      // the checks count only the tasks of their jobs
      warm: 0,
    })),
  };
  writeFileSync(configFile, stringify(config));
  const taskRoot = join(OUT_DIR, 'function');
  bundleFunction({ configFile, outDir: taskRoot });
  return taskRoot;
}

function submitJobs(world: World, organization: string, count: number): void {
  const tags = POOLS.find((pool) => pool.organization === organization)?.tags ?? {};
  for (let index = 0; index < count; index++)
    world.coderd.submitJob({ organization, tags, durationMs: 600_000 });
}
