/** Measures whole looks: the bundled function in a process, against a generated deployment over loopback. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { bundleFunction } from '../../infra/constructs/bundle.ts';
import { makeFleet } from './fleet/fleet.ts';
import type { FleetSize } from './fleet/pools.ts';
import {
  awsEnvironment,
  type Calls,
  observeServed,
  type ServedFleet,
  type Strain,
  serveFleet,
} from './fleet/serve.ts';
import type { InvocationFigures, Work } from './invocation-process.ts';
import { BenchError, median } from './statistics.ts';

export type FunctionFigures = Omit<FleetSize, 'seed'> & {
  /** Before the first invocation: the runtime starts and loads the function. */
  readonly init: Work;
  /** The first invocation: it opens connections, compiles code and reads all workspaces. */
  readonly cold: LookFigures;
  readonly warm: LookFigures;
  /** Later invocations that read the workspaces again. Undefined without workspaces. */
  readonly refresh?: LookFigures;
  /** Peak resident memory of the process, in MiB. Only the function runs in it. */
  readonly peakRssMib: number;
};

export type LookFigures = Work & {
  /** Calls of one invocation, by operation. */
  readonly calls: Readonly<Record<string, number>>;
};

const WARM_TICKS = 7;
const REFRESHES = 5;

/** Measures invocations with one look each. Throws BenchError if the process of the function ends. */
export async function measureFunction(
  size: FleetSize,
  dir: string,
  strain?: Strain,
): Promise<FunctionFigures> {
  const fleet = makeFleet(size);
  const served = await serveFleet(fleet.world, strain);
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, 'autoscaler.yaml');
  writeFileSync(configFile, stringify(fleet.config(served.coderdUrl)));
  const outDir = join(dir, 'function');
  bundleFunction({ configFile, outDir });
  // the server makes its answers before anything is measured
  await observeServed(fleet, served);
  const cluster = fleet.world.ecs.clusterName;
  const invocations = startInvocations(join(outDir, 'index.mjs'), served, cluster);
  const repeats =
    strain === undefined ? { warm: WARM_TICKS, refreshes: REFRESHES } : { warm: 3, refreshes: 1 };
  const figures = await measureInvocations(invocations, served, {
    ...repeats,
    ...(size.workspaces === 0 && { refreshes: 0 }),
  });
  await served.close();
  const { seed: _, ...rest } = size;
  return { ...rest, ...figures };
}

type Repeats = { readonly warm: number; readonly refreshes: number };

async function measureInvocations(invocations: Invocations, served: ServedFleet, repeats: Repeats) {
  const invoke = async () => {
    const before = served.calls();
    const figures = await invocations.invoke();
    return { ...figures, calls: difference(served.calls(), before) };
  };
  const first = await invoke();
  const warm = [];
  for (let index = 0; index < repeats.warm; index++) warm.push(await invoke());
  const refreshes = [];
  for (let index = 0; index < repeats.refreshes; index++) {
    served.ageForecast();
    refreshes.push(await invoke());
  }
  invocations.end();
  return {
    init: first.init,
    cold: lookOf([first]),
    warm: lookOf(warm),
    ...(refreshes.length > 0 ? { refresh: lookOf(refreshes) } : {}),
    peakRssMib: Math.max(...[first, ...warm, ...refreshes].map(({ peakRssMib }) => peakRssMib)),
  };
}

type Invocation = InvocationFigures & Pick<LookFigures, 'calls'>;

/** The calls are those of the last invocation: by then the function has cached all that it caches. */
function lookOf(invocations: readonly Invocation[]): LookFigures {
  return {
    ms: median(invocations.map(({ tick }) => tick.ms)),
    cpuMs: median(invocations.map(({ tick }) => tick.cpuMs)),
    calls: invocations.at(-1)?.calls ?? {},
  };
}

function difference(after: Calls, before: Calls): LookFigures['calls'] {
  const counts = [...after].map(
    ([operation, calls]) => [operation, calls - (before.get(operation) ?? 0)] as const,
  );
  return Object.fromEntries(counts.filter(([, calls]) => calls > 0));
}

type Invocations = ReturnType<typeof startInvocations>;

function startInvocations(bundle: string, served: ServedFleet, cluster: string) {
  const child = fork(fileURLToPath(new URL('invocation-process.ts', import.meta.url)), [bundle], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      AUTOSCALER_CLUSTER: cluster,
      ...awsEnvironment(served.awsUrl),
      // as the stack sets them
      NODE_OPTIONS: '--enable-source-maps',
      POWERTOOLS_SERVICE_NAME: 'coder-provisioner-autoscaler',
      POWERTOOLS_METRICS_NAMESPACE: 'CoderProvisionerAutoscaler',
    },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new BenchError(
      `running the bundled function: its process ended with exit code ${code}; see its error above`,
    );
  });
  ended.catch(() => {});
  return {
    invoke: async (): Promise<InvocationFigures> => {
      const answer = once(child, 'message');
      child.send('tick');
      const [figures] = await Promise.race([answer, ended]);
      return figures as InvocationFigures;
    },
    end: () => void child.kill(),
  };
}
