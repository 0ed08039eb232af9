/** A secret changes while builds run: the pool replaces its tasks, a share at a time, and kills none. */
import { describe, expect, it } from 'vitest';
import { inProcessSecrets } from '../../../lab/world/in-process/ports.ts';
import { SecretMetadata } from '../../../lambda/adapters/secrets/secret-metadata.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { reasonSentence } from '../../../lambda/explain/reason-text.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import { submit } from '../../support/builds.ts';
import {
  cleanLook,
  type Lab,
  type LabOptions,
  type LabPool,
  START,
  startLongLab,
} from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

const FLOOR = 3;

/** A pool with three daemons at least, and eight builds of 5 to 33 minutes that began five minutes ago. */
async function amongBuilds(pool: Partial<LabPool> = {}, options: Partial<LabOptions> = {}): Promise<Lab> {
  const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, min: FLOOR, ...pool };
  const started = await startLongLab({ pools: [cpu], victims: 'worst', readLagMs: 3_000, ...options });
  await started.run(300);
  submit(started, 8, (index) => 5 + 4 * index);
  await started.run(300);
  return started;
}

/** A pool with two idle daemons. */
async function atRest(options: Partial<LabOptions> = {}): Promise<Lab> {
  const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 2, min: 2 };
  const lab = await startLongLab({ pools: [cpu], ...options });
  await lab.run(200, lab.ports(), 20);
  return lab;
}

/** A person adds a tag: the value stays the same. */
function tagSecret({ world }: Lab): void {
  world.secrets.find('coder/keys/cpu')?.tag(new Map([['owner', 'platform']]), world.timeline.now());
}

/** The keys of the daemons that coderd sees. */
function keysInUse({ world }: Lab): ReadonlySet<string> {
  const isAlive = (at: number): boolean => world.timeline.now() - at <= 90_000;
  return new Set(
    world.coderd.daemons().flatMap(({ keyId, lastSeenAt }) => (isAlive(lastSeenAt) ? [keyId] : [])),
  );
}

/** Daemons that can take a job or run one, whatever the autoscaler thinks of them. */
function readyDaemons({ world }: Lab): number {
  return [...world.service('cpu').tasks].filter(({ identity }) => {
    const guard = world.guard(identity.id);
    return guard?.phase === 'working' && guard.daemon?.isConnected === true;
  }).length;
}

type Roll = {
  readonly looks: readonly LookResult[];
  readonly minutes: number;
  readonly fewest: number;
  readonly mostDraining: number;
};

/** Looks until no daemon uses the key, while more builds come. */
async function rollFrom(on: Lab, key: string | undefined, most = 90): Promise<Roll> {
  const ports = on.ports();
  const looks: LookResult[] = [];
  let [fewest, mostDraining, minutes] = [Number.POSITIVE_INFINITY, 0, 0];
  for (; minutes < most && keysInUse(on).has(key ?? ''); minutes += 1) {
    if (minutes % 10 === 0) submit(on, 2, (index) => 1 + 8 * index);
    for (let look = 0; look < 3; look++) {
      on.pass(20);
      looks.push(await cleanLook(ports, on.config));
      fewest = Math.min(fewest, readyDaemons(on));
      const plan = looks.at(-1)?.plan.pools[0];
      mostDraining = Math.max(mostDraining, plan?.why.flatMap(askedOf)[0] ?? 0);
    }
  }
  return { looks, minutes, fewest, mostDraining };
}

const askedOf = (reason: LookResult['plan']['pools'][number]['why'][number]): readonly number[] =>
  reason.code === 'old-secret' ? [reason.asked] : [];

const sentences = (looks: readonly LookResult[]): readonly string[] =>
  looks.flatMap(({ plan }) =>
    plan.pools.flatMap(({ why }) => why.filter(({ code }) => code === 'old-secret').map(reasonSentence)),
  );

async function expectRest(on: Lab): Promise<void> {
  await on.rest(45);
  const { world } = on;
  expect(world.coderd.jobs().every(({ status }) => status === 'succeeded')).toBe(true);
  expect(world.figures().killed).toBe(0);
  expect(world.service('cpu').state.desiredCount).toBe(FLOOR);
}

/** The first test of each kind takes the real ports at full effort. */
const IN_PROCESS = { overHttp: false };

const REPLACED = [
  { pool: { credential: 'key' }, how: 'by hand' },
  { pool: { credential: 'managed' }, how: 'by the key function' },
] as const;

describe.each(rows(REPLACED, 1))('a key that is replaced $how under load', ({ pool }) => {
  it('is unused once the builds have ended, with no build killed and never fewer daemons than the floor', async () => {
    const on = await amongBuilds(pool);
    const key = on.world.changeKey('cpu');
    const { minutes, fewest, looks, mostDraining } = await rollFrom(on, key);
    expect(keysInUse(on).has(key ?? '')).toBe(false);
    expect(minutes).toBeLessThan(45);
    expect(fewest).toBeGreaterThanOrEqual(FLOOR);
    expect(mostDraining).toBeLessThanOrEqual(3);
    expect(sentences(looks)).toContainEqual(
      expect.stringMatching(/^\d of \d+ tasks still uses? the key of 2 March 2026 09:00:00 UTC: /),
    );
    await expectRest(on);
    on.world.coderd.deleteKey('default', 'cpu');
    expect(sentences(await on.run(60))).toEqual([]);
  });
});

describe('a changed secret', () => {
  it('rolls nothing without the permission to list secrets, and the look goes on', async () => {
    const on = await amongBuilds({}, IN_PROCESS);
    on.world.secrets.denyOperation('ListSecrets');
    await on.run(60);
    const key = on.world.changeKey('cpu');
    const { looks } = await rollFrom(on, key, 10);
    expect(keysInUse(on).has(key ?? '')).toBe(true);
    const plans = looks.map(({ plan }) => plan);
    expect(plans.flatMap(({ actions }) => actions.filter(({ why }) => why === 'old-secret'))).toEqual([]);
    expect(findingLines(plans.at(-1)?.findings ?? [])).toContainEqual(
      expect.stringMatching(/^no permission to read .* grant the function's role secretsmanager:ListSecrets/),
    );
    on.world.secrets.allowOperation('ListSecrets');
    await rollFrom(on, key);
    expect(keysInUse(on).has(key ?? '')).toBe(false);
    await expectRest(on);
  });

  it('with a wrong value costs at most one daemon, and the pool stays at its floor', async () => {
    const on = await amongBuilds({}, IN_PROCESS);
    await on.rest(45);
    expect(readyDaemons(on)).toBe(FLOOR);
    on.world.secrets.put('coder/keys/cpu', 'x'.repeat(43));
    const ports = on.ports();
    let fewest = FLOOR;
    for (let look = 0; look < 180; look += 1) {
      on.pass(20);
      await lookAndAct(ports, on.config);
      fewest = Math.min(fewest, readyDaemons(on));
    }
    expect(fewest).toBe(FLOOR);
    on.world.changeKey('cpu');
    await rollFrom(on, undefined, 1);
    await on.rest(60);
    expect(readyDaemons(on)).toBe(FLOOR);
    expect(on.world.figures().killed).toBe(0);
  });

  it('rolls once if a person moves AWSCURRENT back, and not when its tags change later', async () => {
    const on = await atRest();
    const { world } = on;
    const ports = on.ports();
    const first = world.changeKey('cpu');
    await on.run(600, ports);
    expect(keysInUse(on)).toEqual(new Set([world.keyId('cpu')]));
    const secret = world.secrets.find('coder/keys/cpu');
    const [to, from] = ['AWSPREVIOUS', 'AWSCURRENT'].map((stage) => secret?.withStage(stage)?.id);
    secret?.move('AWSCURRENT', { to, from, now: world.timeline.now() });
    await on.run(600, ports);
    expect(keysInUse(on)).toEqual(new Set([first]));
    tagSecret(on);
    expect(sentences(await on.run(300, ports))).toEqual([]);
    // a new process does not know when it moved
    expect(
      sentences(await on.run(60, { ...ports, secrets: new SecretMetadata(inProcessSecrets(world.secrets)) })),
    ).toEqual([]);
  });

  it("rolls by AWS's time, also if the function's clock stands still", async () => {
    // only answers over HTTP have AWS's time
    const on = await atRest({ overHttp: true });
    const ports = { ...on.ports(), clock: { now: () => START, sleep: async () => {} } };
    await on.run(60, ports, 20);
    const key = on.world.changeKey('cpu');
    await on.run(600, ports, 20);
    expect(keysInUse(on)).not.toContain(key);
  });
});
