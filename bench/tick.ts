/**
 * The whole tick at the largest size: the bundled function in a process of its own, with undici and the AWS SDK
 * clients, against a generated deployment over loopback.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { bundleFunction } from '../infra/bundle.ts';
import { makeFleet } from './fleet/fleet.ts';
import { type ServedFleet, serveFleet } from './fleet/serve.ts';
import type { FleetSize } from './fleet/size.ts';
import { CLUSTER } from './fleet/tasks.ts';
import type { InvocationFigures } from './invocation-process.ts';
import { median } from './statistics.ts';

export type TickFigures = Omit<FleetSize, 'seed'> & {
  /** The first invocation: connections are opened, code is not yet compiled. */
  readonly coldMs: number;
  /** Median of the later ones. */
  readonly warmMs: number;
  /** The most memory that the process ever had, in MiB: nothing but the function runs in it. */
  readonly peakRssMib: number;
  /** Calls a tick. */
  readonly calls: Readonly<Record<string, number>>;
};

const WARM_TICKS = 7;

/** Measures invocations with one look each. */
export async function measureTick(size: FleetSize, dir: string): Promise<TickFigures> {
  const fleet = makeFleet(size);
  const served = await serveFleet(fleet);
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, 'autoscaler.yaml');
  writeFileSync(configFile, stringify(fleet.config(served.coderdUrl)));
  const outDir = join(dir, 'function');
  bundleFunction({ configFile, outDir });
  const { ticksMs, peakRssMib } = await runInvocations(join(outDir, 'index.mjs'), served);
  await served.close();
  const [coldMs = 0, ...warm] = ticksMs;
  const { jobs, pools, daemons } = size;
  return { jobs, pools, daemons, coldMs, warmMs: median(warm), peakRssMib, calls: callsATick(served) };
}

async function runInvocations(bundle: string, served: ServedFleet): Promise<InvocationFigures> {
  const child = fork(
    fileURLToPath(new URL('invocation-process.ts', import.meta.url)),
    [bundle, `${WARM_TICKS + 1}`],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        ...process.env,
        AUTOSCALER_CLUSTER: CLUSTER,
        AWS_ENDPOINT_URL_ECS: served.awsUrl,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: served.awsUrl,
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'bench',
        AWS_SECRET_ACCESS_KEY: 'bench',
        // as the stack sets them
        NODE_OPTIONS: '--enable-source-maps',
        POWERTOOLS_SERVICE_NAME: 'coder-provisioner-autoscaler',
        POWERTOOLS_METRICS_NAMESPACE: 'CoderProvisionerAutoscaler',
      },
    },
  );
  const figures = once(child, 'message');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`running the bundled function: its process ended with ${code}; see its error above`);
  });
  const [message] = await Promise.race([figures, ended]);
  ended.catch(() => {});
  return message as InvocationFigures;
}

/** Rounded: the secret is cached over several ticks. */
function callsATick(served: ServedFleet): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...served.calls()].map(([operation, calls]) => [operation, Math.round(calls / (WARM_TICKS + 1))]),
  );
}
