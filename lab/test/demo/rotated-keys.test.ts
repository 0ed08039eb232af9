/**
 * The demo's world, in which two keys are replaced while its builds run: the key function rotates a
 * managed one, and sweeps; a person replaces the other.
 */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '../../../lambda/config/check.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { deploymentOf } from '../../../lambda/keys/model/pool.ts';
import type { KeyPorts, PoolTask } from '../../../lambda/keys/model/ports.ts';
import { managedPoolsOf, serveKeyEvent } from '../../../lambda/keys/serve.ts';
import { simulatedKeyPorts } from '../../../test/keys/simulated-key-ports.ts';
import { cleanLook } from '../../../test/support/lab.ts';
import { IS_FULL } from '../../../test/support/runs.ts';
import { demoConfig, demoWorld, POOLS, planSteps, START } from '../../demo/scenario.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../world/in-process/ports.ts';
import { ROTATION_STEPS } from '../../world/secrets/model.ts';
import type { World } from '../../world/world.ts';

const MINUTES = IS_FULL ? 90 : 50;
const LOOK_EVERY_S = IS_FULL ? 5 : 20;
/** In the middle of the demo's burst of thirty builds. */
const ROTATED_S = 80;
const SWEEP_S = 15 * 60;
const LOAD_MINUTES = 30;
const POOL = 'default';
const BY_HAND = 'data';
const FLOOR = 2;

function configOf(): Config {
  const { pools, ...rest } = parse(demoConfig('https://coder.example.com'));
  return checkConfig({
    ...rest,
    managedKeys: { token: { secret: 'coder/key-token' } },
    pools: pools.map((pool: { readonly name: string }) => ({
      ...pool,
      ...([POOL, BY_HAND].includes(pool.name) && { min: FLOOR }),
      ...(pool.name === POOL && { key: 'managed' }),
    })),
  }).config;
}

/** The key function, invoked as Secrets Manager and the schedule do. */
class KeyFunction {
  readonly #world: World;
  readonly #ports: KeyPorts;
  readonly #pools: ReturnType<typeof managedPoolsOf>;

  constructor(world: World, config: Config) {
    const { coderd, secrets, timeline, stackName } = world;
    const token = coderd.addToken({
      canRead: 'all',
      keyRights: { read: 'all', create: 'all', delete: 'all' },
    });
    const clock = { now: () => timeline.now(), sleep: async () => {} };
    let count = 0;
    this.#world = world;
    this.#pools = managedPoolsOf(config);
    this.#ports = {
      ...simulatedKeyPorts(
        {
          coderd,
          secrets,
          token: () => token,
          called: async (_, act) => act(),
          onAnswer: (_, answer) => answer,
        },
        clock,
      ),
      tasks: { running: async () => new Map([[POOL, tasksOf(world, POOL)]]) },
      clock,
      random: {
        suffix: () => `made${++count}`.padEnd(8, 'x'),
        token: () => `token-${++count}`.padEnd(32, 'x'),
      },
      log: { info: () => {}, warn: () => {} },
      deployment: deploymentOf(
        stackName,
        `arn:aws:cloudformation:eu-central-1:123456789012:stack/${stackName}/1`,
      ),
    };
  }

  get secretArn(): string {
    return this.#world.secrets.find(`coder/keys/${POOL}`)?.arn ?? '';
  }

  async rotate(): Promise<void> {
    const secret = this.#world.secrets.find(this.secretArn);
    if (secret === undefined) throw new Error('the secret of the managed key is missing');
    const ClientRequestToken = this.#world.secrets.announceRotation(secret);
    for (const Step of ROTATION_STEPS)
      await this.#serve({ Step, SecretId: this.secretArn, ClientRequestToken });
  }

  async sweep(): Promise<void> {
    await this.#serve({ sweep: true });
  }

  async #serve(event: unknown): Promise<void> {
    await serveKeyEvent(event, this.#ports, this.#pools);
  }
}

function tasksOf(world: World, pool: string): readonly PoolTask[] {
  return [...world.service(pool).tasks]
    .filter(({ state }) => state.lastStatus !== 'STOPPED')
    .map(({ identity, state }) => ({ id: identity.id, createdAt: state.createdAt }));
}

function readyDaemons(world: World, pool: string): number {
  return tasksOf(world, pool).filter(({ id }) => {
    const guard = world.guard(id);
    return guard?.phase === 'working' && guard.daemon?.isConnected === true;
  }).length;
}

/** Builds of at most 15 min for the managed pool, and of 2 min for the other, which has 6 tasks at most. */
function submitMore({ coderd }: World, random: Random): void {
  coderd.submitJob({ organization: 'default', tags: {}, durationMs: random.whole(20_000, 900_000) });
  for (let job = random.whole(1, 4); job > 0; job -= 1)
    coderd.submitJob({
      organization: 'data',
      tags: { team: 'data' },
      durationMs: random.whole(20_000, 120_000),
    });
}

it('replaces two keys under load and deletes the managed one, with no build killed', async () => {
  const pools = POOLS.map(
    (pool) => ({ ...pool, credential: pool.name === POOL ? 'managed' : 'key' }) as const,
  );
  const world = demoWorld({ seed: 1, pools });
  const config = configOf();
  const keys = new KeyFunction(world, config);
  await keys.rotate(); // from the key that the world made to one of the key function
  const ports = inProcessPorts(world, { scheduler: new VirtualScheduler(world.timeline) });
  const random = new Random(7);
  const organization = world.coderd.organizationId('default');
  const isThere = (id: string | undefined): boolean =>
    world.coderd.keys.list(organization).some((key) => key.id === id);
  planSteps(world, new Random(1), () => {});
  let old: string | undefined;
  let replacedByHand: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  let goneAfterMinutes = Number.POSITIVE_INFINITY;
  for (let second = 0; second < MINUTES * 60; second += LOOK_EVERY_S) {
    world.timeline.advanceTo(plusMs(START, second * 1_000));
    if (second === ROTATED_S) {
      old = world.keyId(POOL);
      await keys.rotate();
      replacedByHand = world.changeKey(BY_HAND);
    }
    if (second % SWEEP_S === 0) await keys.sweep();
    if (second % 60 === 0 && second < LOAD_MINUTES * 60) submitMore(world, random);
    // ECS shows the services only after its read lag
    if (second > 0) await cleanLook(ports(), config);
    if (second > ROTATED_S)
      fewest = Math.min(fewest, readyDaemons(world, POOL), readyDaemons(world, BY_HAND));
    if (old !== undefined && !isThere(old)) goneAfterMinutes = Math.min(goneAfterMinutes, second / 60);
  }
  expect(old).toBeDefined();
  expect(isThere(world.keyId(POOL))).toBe(true);
  expect(goneAfterMinutes).toBeLessThan(MINUTES);
  // not before the builds that held it can have ended
  expect(goneAfterMinutes).toBeGreaterThan(10);
  const alive = world.coderd
    .daemons()
    .filter(({ lastSeenAt }) => world.timeline.now() - lastSeenAt <= 90_000);
  expect(alive.length).toBeGreaterThanOrEqual(2 * FLOOR);
  expect(replacedByHand).toBeDefined();
  expect(alive.filter(({ keyId }) => keyId === replacedByHand)).toEqual([]);
  expect(world.figures().killed).toBe(0);
  expect(fewest).toBeGreaterThanOrEqual(FLOOR);
  const jobs = world.coderd.jobs().filter(({ tags }) => tags.cluster !== 'tpu');
  expect(jobs.length).toBeGreaterThan(100);
  expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([]);
});
