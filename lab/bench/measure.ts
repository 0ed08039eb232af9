/** Measures the decision, and whole looks of the bundled function in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { bundleFunction } from '../../infra/constructs/bundle.ts';
import { snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { decide } from '../../lambda/decision/decide.ts';
import { percentile } from '../../lambda/decision/model/collections.ts';
import { type FleetSize, makeFleet } from './fleet.ts';
import type { InvocationFigures, Work } from './invocation-process.ts';
import { awsEnvironment, observeFleet, type ServedFleet, serveFleet } from './serve.ts';

export type Decision = {
  /** Of one decision without any cache, as in the first look of a function. */
  readonly decideMs: number;
  /** `decideMs` by the time of `JSON.parse` for the same snapshot: comparable between machines. */
  readonly ratio: number;
};

export type Looks = {
  /** The runtime starts and loads the function. */
  readonly init: Work;
  /** The first invocation: it opens connections, compiles code and reads all workspaces. */
  readonly first: Work;
  readonly later: Work;
  /** Peak resident memory of the process, in MiB. Only the function runs in it. */
  readonly peakRssMib: number;
};

class BenchError extends Error {
  override readonly name = 'BenchError';
}

const DIR = 'dist/bench';
const LATER_LOOKS = 7;
const RUNS = 15;

export async function measureDecision(size: FleetSize, seed: number): Promise<Decision> {
  const { snapshot, config } = await observeFleet(makeFleet(size, seed));
  const text = JSON.stringify(snapshotToJson(snapshot));
  const decideMs = timeOn(
    () => structuredClone(snapshot),
    (fresh) => decide(fresh, config),
  );
  const parseMs = timeOn(
    () => text,
    (json) => JSON.parse(json),
  );
  return { decideMs, ratio: decideMs / parseMs };
}

/** Of a deployment that a stack can have. */
export async function measureLooks(size: FleetSize, seed: number): Promise<Looks> {
  const fleet = makeFleet(size, seed);
  const served = await serveFleet(fleet);
  const configFile = join(DIR, 'autoscaler.yaml');
  mkdirSync(DIR, { recursive: true });
  writeFileSync(configFile, stringify(fleet.config(served.coderdUrl)));
  bundleFunction({ configFile, outDir: join(DIR, 'function') });
  const looks = await invoke(served, fleet.world.ecs.clusterName);
  await served.close();
  return looks;
}

async function invoke(served: ServedFleet, cluster: string): Promise<Looks> {
  const bundle = join(DIR, 'function', 'index.mjs');
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
  const looks: InvocationFigures[] = [];
  while (looks.length <= LATER_LOOKS) {
    const answer = once(child, 'message');
    child.send('tick');
    looks.push((await Promise.race([answer, ended]))[0] as InvocationFigures);
  }
  child.kill();
  const [first, ...later] = looks;
  if (first === undefined) throw new BenchError('running the bundled function: it made no look');
  return {
    init: first.init,
    first: first.tick,
    later: {
      ms: median(later.map(({ tick }) => tick.ms)),
      cpuMs: median(later.map(({ tick }) => tick.cpuMs)),
    },
    peakRssMib: Math.max(...looks.map(({ peakRssMib }) => peakRssMib)),
  };
}

const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Median milliseconds of a call on a new value each time. Making the value is not measured. */
function timeOn<T>(make: () => T, run: (made: T) => void): number {
  run(make());
  const times = Array.from({ length: RUNS }, () => {
    const made = make();
    const before = performance.now();
    run(made);
    return performance.now() - before;
  });
  return median(times);
}
