/** The real ports (undici, AWS SDK clients) on a world that is served over loopback and moves only when told. */

import { type Requested, serveWorld } from '../../lab/serve.ts';
import { type PoolSpec, World, type WorldOptions } from '../../lab/world.ts';
import { checkConfig } from '../../lambda/adapters/config/check.ts';
import type { Ports } from '../../lambda/app/ports.ts';
import { type Tick, tick } from '../../lambda/app/tick.ts';
import { connect } from '../../lambda/connect.ts';
import type { EpochMs } from '../../lambda/core/brands.ts';
import type { Config, ScaleIn } from '../../lambda/core/config.ts';
import { type ForecastSettings, forecastSettings } from './settings.ts';

export const START = Date.parse('2026-03-02T09:00:00Z') as EpochMs;

export type LabPool = PoolSpec &
  ForecastSettings & {
    readonly min?: number;
    readonly max?: number;
    readonly warm?: number;
    readonly idleTimeout?: string;
    readonly scaleIn?: ScaleIn;
  };

export type LabOptions = Partial<Omit<WorldOptions, 'pools'>> & {
  readonly pools: readonly LabPool[];
  readonly maxTasks?: number;
  readonly onRequest?: (what: Requested) => void;
};

export type Lab = {
  readonly world: World;
  readonly config: Config;
  readonly coderdUrl: string;
  readonly awsUrl: string;
  readonly ports: () => Ports;
  /** Lets seconds of the world's time pass. */
  readonly pass: (seconds: number) => void;
  /** A tick every 10 s of the world's time. Throws on a tick's failures. */
  readonly run: (seconds: number, ports?: Ports) => Promise<readonly Tick[]>;
  readonly close: () => Promise<void>;
};

export async function startLab({ pools, maxTasks = 100, onRequest, ...options }: LabOptions): Promise<Lab> {
  const world = new World({ start: START, seed: 1, pools, ...options });
  const served = await serveWorld(world, onRequest ? { onRequest } : {});
  process.env.AWS_ENDPOINT_URL_ECS = served.awsUrl;
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = served.awsUrl;
  const { config } = checkConfig(labConfig(served.coderdUrl, pools, maxTasks));
  const connection = connect(config, world.ecs.clusterName, undefined);
  const pass = (seconds: number): void =>
    world.timeline.advanceTo((world.timeline.now() + seconds * 1000) as EpochMs);
  return {
    world,
    config,
    coderdUrl: served.coderdUrl,
    awsUrl: served.awsUrl,
    ports: connection.ports,
    pass,
    run: async (seconds, ports = connection.ports()) => {
      const ticks: Tick[] = [];
      for (let passed = 0; passed < seconds; passed += 10) {
        pass(10);
        ticks.push(await cleanTick(ports, config));
      }
      return ticks;
    },
    close: async () => {
      await connection.close();
      await served.close();
    },
  };
}

/** One tick that must not fail. */
export async function cleanTick(ports: Ports, config: Config): Promise<Tick> {
  const done = await tick(ports, config);
  if (done.failures.length > 0) throw new Error(done.failures.map(({ message }) => message).join('\n'));
  return done;
}

export function labConfig(
  coderdUrl: string,
  pools: readonly LabPool[],
  maxTasks = 100,
): Record<string, unknown> {
  return {
    coder: { url: coderdUrl, token: { secret: 'coder/autoscaler-token' } },
    limits: { maxTasks },
    pools: pools.map((pool) => ({
      name: pool.name,
      organization: pool.organization,
      tags: pool.tags,
      key: { secret: `coder/keys/${pool.name}` },
      min: pool.min ?? 0,
      max: pool.max ?? 20,
      warm: pool.warm ?? 0,
      idleTimeout: pool.idleTimeout ?? '60s',
      scaleIn: pool.scaleIn ?? 'lease',
      ...forecastSettings(pool),
    })),
  };
}
