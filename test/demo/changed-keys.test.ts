/** The demo's world, in which two keys are replaced while its builds run. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { demoConfig, planSteps, START } from '../../demo/scenario.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { plusMs } from '../../lambda/decision/model/brands.ts';
import type { Config } from '../../lambda/decision/model/config.ts';
import { Random } from '../../simulator/base/random.ts';
import { VirtualScheduler } from '../../simulator/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../simulator/in-process/ports.ts';
import type { World } from '../../simulator/world.ts';
import { cleanLook } from '../support/lab.ts';
import { worldWithManagedKey } from './managed-key-world.ts';

const MINUTES = 40;
/** In the middle of the demo's burst of thirty builds. */
const CHANGED_S = 70;
const FLOOR = 2;
/** One key is replaced by hand, the other by a rotation. */
const CHANGED = ['default', 'data'];

/** The demo's configuration, with a floor for each pool whose key changes. */
function configOf(): Config {
  const { pools, ...rest } = parse(demoConfig('https://coder.example.com'));
  return checkConfig({
    ...rest,
    managedKeys: { token: { secret: 'coder/key-token' } },
    pools: pools.map((pool: { readonly name: string }) => ({
      ...pool,
      ...(CHANGED.includes(pool.name) && { min: FLOOR }),
      ...(pool.name === 'data' && { key: 'managed' }),
    })),
  }).config;
}

function readyDaemons(world: World, pool: string): number {
  return [...world.service(pool).tasks].filter(({ identity }) => {
    const guard = world.guard(identity.id);
    return guard?.phase === 'working' && guard.daemon?.isConnected === true;
  }).length;
}

/** Builds of 20 s to 10 min for `default`, and to 2 min for `data`, which has 6 tasks at most, every minute. */
function submitMore(world: World, random: Random): void {
  const tags = { default: {}, data: { team: 'data' } };
  for (const organization of ['default', 'data'] as const)
    for (let job = random.whole(1, 4); job > 0; job -= 1)
      world.coderd.submitJob({
        organization,
        tags: tags[organization],
        durationMs: random.whole(20_000, organization === 'data' ? 120_000 : 600_000),
      });
}

it('ends without the old keys, with no build killed and never fewer daemons than the floor', async () => {
  const world = worldWithManagedKey('data');
  const config = configOf();
  const scheduler = new VirtualScheduler(world.timeline);
  const ports = inProcessPorts(world, { scheduler });
  const random = new Random(7);
  planSteps(world, new Random(1), () => {});
  const old: (string | undefined)[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  for (let second = 0; second < MINUTES * 60; second += 5) {
    world.timeline.advanceTo(plusMs(START, second * 1_000));
    if (second === CHANGED_S) old.push(...CHANGED.map((pool) => world.changeKey(pool)));
    if (second % 60 === 0 && second < (MINUTES - 15) * 60) submitMore(world, random);
    // ECS shows the services only after its read lag
    if (second > 0) await cleanLook(ports(), config);
    if (second > CHANGED_S) fewest = Math.min(fewest, ...CHANGED.map((pool) => readyDaemons(world, pool)));
  }
  const isAlive = (at: number): boolean => world.timeline.now() - at <= 90_000;
  const used = world.coderd
    .daemons()
    .flatMap(({ keyId, lastSeenAt }) => (isAlive(lastSeenAt) ? [keyId] : []));
  expect(old.filter((key) => key === undefined || used.includes(key))).toEqual([]);
  expect(used.length).toBeGreaterThanOrEqual(2 * FLOOR);
  expect(world.figures().killed).toBe(0);
  expect(fewest).toBeGreaterThanOrEqual(FLOOR);
  const jobs = world.coderd.jobs().filter(({ tags }) => tags.cluster !== 'tpu');
  expect(jobs.length).toBeGreaterThan(100);
  expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([]);
});
