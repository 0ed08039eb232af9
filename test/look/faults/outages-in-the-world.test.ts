/**
 * Long outages while builds run. The autoscaler kills no build, and afterwards
 * all builds are served.
 */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { type LookResult, lookAndAct } from '../../../lambda/look/look.ts';
import type { Ports } from '../../../lambda/look/ports.ts';
import { type Lab, type LabOptions, type LabPool, startLongLab } from '../../support/lab.ts';
import { IS_FULL } from '../../support/runs.ts';
import { failed, withoutCoderd } from '../../support/without-coderd.ts';

const HOUR_S = 3_600;
const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, idleTimeout: '60s' };

function start(pool: LabPool = cpu, options: Partial<LabOptions> = {}): Promise<Lab> {
  return startLongLab({ pools: [pool], ...options });
}

/** Submits one build for each duration in minutes. */
function submit({ world }: Lab, ...minutes: readonly number[]): void {
  for (const length of minutes)
    world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: length * MINUTE_MS });
}

/** Looks every 30 s, or once a minute for long in a quick run. Returns failed looks too. */
async function look(on: Lab, seconds: number, ports: Ports = on.ports()): Promise<readonly LookResult[]> {
  const looks: LookResult[] = [];
  const everyS = IS_FULL || seconds < HOUR_S ? 30 : 60;
  for (let passed = 0; passed < seconds; passed += everyS) {
    on.pass(everyS);
    looks.push(await lookAndAct(ports, on.config));
  }
  return looks;
}

const idOf = ({ world }: Lab): string => world.service('cpu').identity.name;
const running = ({ world }: Lab): number => world.ecs.counts().running;
const messages = (looks: readonly LookResult[]): string =>
  [...new Set(looks.flatMap(({ failures }) => failures.map(({ message }) => message)))].join('\n');

function expectAllServed({ world }: Lab, jobs: number): void {
  expect(world.coderd.jobs().map(({ status }) => status)).toEqual(Array(jobs).fill('succeeded'));
  expect(world.figures().killed).toBe(0);
}

const refuse = (): never => {
  throw new Error('ServiceUnavailableException');
};

const withoutEcs = (ports: Ports): Ports => ({
  ...ports,
  ecs: {
    cluster: ports.ecs.cluster,
    stack: ports.ecs.stack,
    services: () => failed('listing services'),
    tasks: () => failed('listing tasks'),
    protections: () => failed('reading task protection'),
    setDesired: refuse,
    requestDrain: refuse,
    protect: refuse,
  },
});

describe('an outage', () => {
  it('of ECS for 2 hours drains nothing and is reported by every look', async () => {
    const on = await start({ ...cpu, min: 2 });
    submit(on, 90, 30);
    await look(on, 300);
    const looks = await look(on, 2 * HOUR_S, withoutEcs(on.ports()));
    expect(running(on)).toBe(2);
    expect(looks.every(({ failures }) => failures.length > 0)).toBe(true);
    expect(messages(looks)).toMatch(/listing services: ServiceUnavailableException/);
    submit(on, 5, 5, 5);
    await look(on, 1_800);
    expectAllServed(on, 5);
    expect(running(on)).toBe(2);
  });

  it('of coderd for 3 hours drains nothing and is reported by every look', async () => {
    const on = await start();
    submit(on, 10, 10, 200);
    await look(on, 300);
    const looks = await look(on, 3 * HOUR_S, withoutCoderd(on.ports()));
    expect(running(on)).toBe(3);
    expect(looks.every(({ failures }) => failures.length > 0)).toBe(true);
    expect(messages(looks)).toMatch(/listing organizations: ServiceUnavailableException/);
    await look(on, HOUR_S);
    expectAllServed(on, 3);
    expect(running(on)).toBe(0);
  });
});

describe('a Spot interruption', () => {
  it('of half of the tasks kills their builds, and the pool replaces the tasks that it needs', async () => {
    const on = await start();
    submit(on, 30, 30, 30, 30, 30, 30);
    await look(on, 300);
    const tasks = [...on.world.service('cpu').tasks];
    expect(tasks).toHaveLength(6);
    for (const task of tasks.slice(0, 3)) on.world.ecs.spotInterruption(task.identity.id);
    submit(on, 5, 5, 5);
    await look(on, 2 * HOUR_S);
    const { killedByUs, killedByOthers } = on.world.figures();
    expect({ killedByUs, killedByOthers }).toEqual({ killedByUs: 0, killedByOthers: 3 });
    const statuses = on.world.coderd.jobs().map(({ status }) => status);
    expect(statuses.filter((status) => status === 'succeeded')).toHaveLength(6);
    expect(running(on)).toBe(0);
  });
});

describe('a deployment', () => {
  it('is refused while five have tasks, as a rollback is, and works again once their builds have ended', async () => {
    const on = await start({ ...cpu, max: 9 }, { deploymentBlocked: 'off' });
    for (let deployment = 1; deployment <= 5; deployment++) {
      submit(on, 90);
      await look(on, 300);
      if (deployment < 5) on.world.deploy('cpu');
    }
    const { definition } = on.world.service('cpu').state.older.at(-1) ?? {};
    const refused = '5 active deployments exist, unable to create new deployment.';
    expect(() => on.world.deploy('cpu')).toThrow(refused);
    expect(() => definition && on.world.ecs.deploy(idOf(on), definition)).toThrow(refused);
    await look(on, 2 * HOUR_S);
    on.world.deploy('cpu');
    submit(on, 5);
    await look(on, 2 * HOUR_S);
    expectAllServed(on, 6);
    expect(on.world.service('cpu').state.primary.rolloutState).toBe('COMPLETED');
  });
});
