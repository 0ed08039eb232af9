/**
 * The autoscaler in a simulated world. Its time passes only when the test says so. A lab closes itself
 * at the end of the test that started it; close one that `beforeAll` started.
 */
import { onTestFinished, TestRunner } from 'vitest';
import { daemonVariables } from '../../infra/constructs/pool/daemon-variables.ts';
import { VirtualScheduler } from '../../lab/world/base/virtual-scheduler.ts';
import { DEFAULT_RELEASE } from '../../lab/world/coderd/rules/versions.ts';
import { inProcessPorts } from '../../lab/world/in-process/ports.ts';
import { type Requested, serveWorld } from '../../lab/world/serve.ts';
import { type PoolSpec, World, type WorldOptions } from '../../lab/world/world.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { connect } from '../../lambda/connect.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../lambda/decision/model/units.ts';
import { runLooks } from '../../lambda/look/invocation.ts';
import { type LookResult, lookAndAct } from '../../lambda/look/look.ts';
import type { Ports } from '../../lambda/look/ports.ts';
import { handIn } from '../secrets/output.ts';
import { IS_FULL } from './runs.ts';
import { type ForecastSettings, forecastSettings } from './settings.ts';

/** The time of an RFC 3339 text. */
export const timeOf = (text: string): EpochMs => Date.parse(text) as EpochMs;

export const START = timeOf('2026-03-02T09:00:00Z');

export type LabPool = PoolSpec &
  ForecastSettings & {
    readonly min?: number;
    readonly max?: number;
    readonly warm?: number;
    readonly idleTimeout?: string;
    /** What the settings say. What its tasks have, `template` says. @default false */
    readonly bindTaskRole?: boolean;
  };

export type LabOptions = Partial<Omit<WorldOptions, 'pools'>> & {
  readonly pools: readonly LabPool[];
  readonly maxTasks?: number;
  readonly onRequest?: (what: Requested) => void;
  /** The real ports (undici, AWS SDK clients) on a served world, or those in process. @default true */
  readonly overHttp?: boolean;
  /**
   * Seconds from each full minute, when coderd's executor runs, to the start of an invocation.
   * @default 20
   */
  readonly phaseS?: number;
};

export type Lab = {
  readonly world: World;
  readonly config: Config;
  readonly coderdUrl: string;
  readonly awsUrl: string;
  /** As a NAT that drops its table: requests on the connections that are open now get a reset. */
  readonly forgetConnections: () => void;
  readonly ports: () => Ports;
  /** Lets seconds of the world's time pass. */
  readonly pass: (seconds: number) => void;
  /**
   * A look every 10 s of the world's time, or every `everyS`. A quick run that lasts long looks less
   * often. Throws on a look's failures.
   */
  readonly run: (seconds: number, ports?: Ports, everyS?: number) => Promise<readonly LookResult[]>;
  /** As `run` with a look a minute, as in production while nothing happens. */
  readonly rest: (minutes: number) => Promise<readonly LookResult[]>;
  /**
   * Invokes the function once a minute, as in production. An invocation looks again only while the
   * plan asks for it. Throws what an invocation throws. Calls `ports` for each invocation, and does
   * not use their clock.
   */
  readonly invoke: (minutes: number, ports?: () => Ports) => Promise<readonly LookResult[]>;
  readonly close: () => Promise<void>;
};

/** The function's timeout in the CDK stack. */
const TIMEOUT_MS = 55_000;

/**
 * Starts a lab for long simulated times. The full effort uses the real ports, the quick one the
 * ports in process: they give the same plans (lab/test/world/in-process-ports.full.test.ts) in a fifth of
 * the time.
 */
export function startLongLab(given: LabOptions): Promise<Lab> {
  return startLab({ ...given, overHttp: given.overHttp ?? (IS_FULL || given.onRequest !== undefined) });
}

export async function startLab(given: LabOptions): Promise<Lab> {
  const { pools, maxTasks = 100, onRequest, phaseS = 20, overHttp = true, ...options } = given;
  const { start = START } = options;
  const deployed = pools.map((pool) => ({ ...pool, variables: variablesOf(pool) }));
  const world = new World({ seed: 1, pools: deployed, ...options, start });
  const served = await serveWorld(world, onRequest ? { onRequest } : {});
  process.env.AWS_ENDPOINT_URL_ECS = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_SSM = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_IAM = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_APPLICATION_AUTO_SCALING = served.awsUrl;
  const { config } = checkConfig(labConfig(served.coderdUrl, pools, maxTasks));
  // the function's own clock is the world's
  const now = () => world.timeline.now();
  const connection = connect(config, world.ecs.clusterName, undefined, { stack: world.stackName, now });
  const ports = overHttp
    ? connection.ports
    : inProcessPorts(world, { scheduler: new VirtualScheduler(world.timeline) });
  const run: Lab['run'] = async (seconds, given = ports(), everyS = everySecondsOf(seconds)) => {
    const looks: LookResult[] = [];
    for (let passed = 0; passed < seconds; passed += everyS) {
      pass(everyS);
      looks.push(await cleanLook(given, config));
    }
    handInLast(looks);
    return looks;
  };
  const pass = (seconds: number): void =>
    world.timeline.advanceTo((world.timeline.now() + seconds * 1000) as EpochMs);
  const close = async (): Promise<void> => {
    await connection.close();
    await served.close();
  };
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(close);
  return {
    world,
    config,
    coderdUrl: served.coderdUrl,
    awsUrl: served.awsUrl,
    forgetConnections: served.forgetConnections,
    ports,
    pass,
    run,
    rest: (minutes) => run(minutes * 60, ports(), 60),
    invoke: async (minutes, given = ports) => {
      const looks: LookResult[] = [];
      const { timeline } = world;
      const sinceMs = (timeline.now() - start) % MINUTE_MS;
      timeline.advanceTo(plusMs(timeline.now(), (phaseS * 1000 - sinceMs + MINUTE_MS) % MINUTE_MS));
      for (let minute = 0; minute < minutes; minute++) {
        const nextAt = plusMs(timeline.now(), MINUTE_MS);
        await invokeOnce({ world, config, ports: given(), onLook: (done) => looks.push(done) });
        timeline.advanceTo(nextAt);
      }
      handInLast(looks);
      return looks;
    },
    close,
  };
}

/** From so many seconds on, a quick run looks only so often: a look costs more than the time between two. */
const QUICK_LOOKS = [
  { fromS: 1_800, everyS: 60 },
  { fromS: 600, everyS: 30 },
  { fromS: 200, everyS: 20 },
];

function everySecondsOf(seconds: number): number {
  const quick = QUICK_LOOKS.find(({ fromS, everyS }) => seconds >= fromS && seconds % everyS === 0);
  return IS_FULL || quick === undefined ? 10 : quick.everyS;
}

/** Plan and outcome of the last look, for the search for secrets. */
function handInLast(looks: readonly LookResult[]): void {
  handIn({ where: 'the last look', text: JSON.stringify(looks.at(-1) ?? null) });
}

/** Runs one invocation with the world's clock: sleep lets the world's time pass. Throws what it throws. */
export async function invokeOnce(on: {
  readonly world: World;
  readonly config: Config;
  readonly ports: Ports;
  readonly onLook: (look: LookResult) => void;
}): Promise<void> {
  const { config, ports, onLook } = on;
  const { timeline } = on.world;
  const endsAt = timeline.now() + TIMEOUT_MS;
  const sleep = async (ms: number): Promise<void> => timeline.advanceTo(plusMs(timeline.now(), ms));
  const clock = { now: () => timeline.now(), sleep };
  const remainingMs = (): number => endsAt - timeline.now();
  await runLooks({ ports: { ...ports, clock }, config, remainingMs, onLook });
}

/** One look that must not fail. */
export async function cleanLook(ports: Ports, config: Config): Promise<LookResult> {
  const done = await lookAndAct(ports, config);
  if (done.failures.length > 0) throw new Error(done.failures.map(({ message }) => message).join('\n'));
  return done;
}

/** The plain variables that the stack gives the pool's tasks. */
function variablesOf({ credential: kind = 'key', ...pool }: LabPool): Readonly<Record<string, string>> {
  return daemonVariables({ ...pool, auth: { kind, secret: { secret: '' } } });
}

export function labConfig(
  coderdUrl: string,
  pools: readonly LabPool[],
  maxTasks = 100,
): Record<string, unknown> {
  return {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks },
    ...(pools.some(({ credential }) => credential === 'managed') && {
      managedKeys: { token: { secret: 'coder/key-token' } },
    }),
    defaults: { image: `ghcr.io/coder/coder:${DEFAULT_RELEASE}` },
    pools: pools.map((pool) => ({
      name: pool.name,
      organization: pool.organization,
      tags: pool.tags,
      ...credentialOf(pool),
      min: pool.min ?? 0,
      max: pool.max ?? 20,
      warm: pool.warm ?? 0,
      idleTimeout: pool.idleTimeout ?? '60s',
      ...(pool.bindTaskRole !== undefined && { bindTaskRole: pool.bindTaskRole }),
      ...((pool.instances ?? pool.capacity) && { capacity: pool.instances ?? pool.capacity }),
      ...forecastSettings(pool),
    })),
  };
}

function credentialOf({ name, credential = 'key' }: LabPool): Record<string, unknown> {
  return credential === 'managed' ? { key: 'managed' } : { [credential]: { secret: `coder/keys/${name}` } };
}
