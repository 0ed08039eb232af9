/**
 * Compares the ports in process with the adapters over HTTP: the same trace gives the same snapshot
 * and the same plan at each look.
 */
import { expect, it } from 'vitest';
import { type PoolName, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { LookMemory } from '../../../lambda/look/look-memory.ts';
import type { Ports, WantedSecret } from '../../../lambda/look/ports.ts';
import { type Lab, START, startLab } from '../../../test/support/lab.ts';
import { IS_FULL, rows } from '../../../test/support/runs.ts';
import { Replay } from '../../what-if/replay/replay.ts';
import { JOB_KINDS, TRANSITIONS, type TraceJob } from '../../what-if/trace/trace.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { inProcessPorts } from '../../world/in-process/ports.ts';

const MINUTES = IS_FULL ? 75 : 16;
const JOBS = IS_FULL ? 80 : 40;
const SEEDS = [1, 2];

const TAGS = [{}, { gpu: 'a10' }, { gpu: 'a10', size: 'large' }, { nobody: 'has this' }];

/** Jobs of all kinds, enough to reach the limits of the pools and coderd's reaper. */
function traceOf(seed: number): readonly TraceJob[] {
  const random = new Random(seed);
  const jobs = Array.from(
    { length: JOBS },
    (): TraceJob => ({
      at: plusMs(START, random.whole(60, (MINUTES - 8) * 60) * 1000 + random.whole(0, 999)),
      organization: random.pick(['default', 'data']) ?? '',
      tags: random.pick(TAGS) ?? {},
      seconds: random.whole(0, 400),
      kind: random.pick(JOB_KINDS) ?? 'user',
      // some workspaces have several jobs, and some of these overlap
      workspace: random.pick([undefined, `w${random.whole(1, 20)}`]),
      transition: random.pick([undefined, ...TRANSITIONS]),
    }),
  );
  return jobs.sort((a, b) => a.at - b.at);
}

function startTraceLab(seed: number): Promise<Lab> {
  const pool = { min: 0, max: 6, warm: 1, idleTimeout: '90s' };
  return startLab({
    seed,
    maxTasks: 12,
    pools: [
      { ...pool, name: 'plain', organization: 'default', tags: {} },
      { ...pool, name: 'gpu', organization: 'default', tags: { gpu: 'a10' } },
      { ...pool, name: 'big', organization: 'default', tags: { gpu: 'a10', size: 'large' }, warm: 0 },
      { ...pool, name: 'data', organization: 'data', tags: {}, image: 'bare' },
    ],
  });
}

/** Runs the looks of the trace with these ports. Returns what each look planned and did. */
async function runLooksWith(
  seed: number,
  portsOf: (lab: Lab) => () => Ports,
): Promise<readonly LookResult[]> {
  const lab = await startTraceLab(seed);
  const replay = new Replay(lab.world, traceOf(seed));
  const ticks = await lab.invoke(MINUTES, portsOf(lab));
  expect(replay.jobs().filter(({ record }) => record !== undefined).length).toBeGreaterThan(JOBS / 2);
  return ticks;
}

const inProcess = ({ world }: Lab): (() => Ports) =>
  inProcessPorts(world, {
    ownsCluster: false,
    scheduler: new VirtualScheduler(world.timeline),
    memory: new LookMemory(),
  });

/**
 * What both ways must see. In process there is no sign-in, so there is neither a token nor the member
 * that it belongs to, answers of AWS have no date, and those of coderd take no real time.
 */
function comparable({ coder, ecs, secrets, ...snapshot }: Snapshot) {
  const { token: _, ...server } = coder;
  const { takenAt: __, ...services } = ecs.services;
  return {
    ...snapshot,
    ecs: { ...ecs, services },
    secrets: secrets?.items,
    coder: {
      ...server,
      organizations: coder.organizations.map(({ members, jobs, previousJobs, ...readings }) => ({
        ...readings,
        jobs: { ...jobs, tookMs: undefined },
        previousJobs: { ...previousJobs, tookMs: undefined },
      })),
    },
  };
}

it.each(rows(SEEDS, 1))(
  'ports in process give the same snapshots, plans and actions as HTTP at each look, seed %i',
  async (seed) => {
    const http = await runLooksWith(seed, ({ ports }) => ports);
    const virtual = await runLooksWith(seed, inProcess);
    expect(http.length).toBeGreaterThan(MINUTES);
    expect(virtual.length).toBe(http.length);
    for (const [index, { snapshot, plan, outcome }] of http.entries()) {
      const seen = virtual[index]?.snapshot;
      expect(seen && comparable(seen)).toEqual(comparable(snapshot));
      expect(virtual[index]?.plan).toEqual(plan);
      expect(virtual[index]?.outcome).toEqual(outcome);
    }
    const actions = http.flatMap(({ plan }) => plan.actions.map(({ kind }) => kind));
    expect(new Set(actions)).toEqual(new Set(['set-desired', 'ask-to-leave', 'protect']));
  },
);

const WANTED: WantedSecret = {
  kind: 'key',
  pool: 'cpu' as PoolName,
  stack: 'Stack',
  secret: undefined,
  oldestTaskAt: undefined,
};

it('a fault that is taught to the simulated AWS shows in process as over HTTP', async () => {
  const pool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 2 };
  const lab = await startLab({ pools: [pool] });
  const { world } = lab;
  lab.pass(400);
  const tasks = world.ecs.tasks().map(({ identity }) => identity.arn);
  const refused = world.ecs.tasks()[0]?.identity.id ?? '';
  world.ecs.refusingTasks.add(refused);
  world.secrets.denyOperation('ListSecrets');
  const seenBy = async ({ ecs, secrets }: Ports) => ({
    refusals: (await ecs.requestDrain(tasks)).map(({ task, reason }) => [task, reason]),
    secrets: (await secrets?.entries([WANTED], world.timeline.now()))?.status,
  });
  const virtual = await seenBy(inProcess(lab)());
  expect(virtual).toEqual({
    refusals: [[expect.stringContaining(refused), 'InvalidParameterException']],
    secrets: 'forbidden',
  });
  expect(await seenBy(lab.ports())).toEqual(virtual);
  const service = world.service('cpu').identity.arn;
  const throttled = (calls: number, { ecs }: Ports) => {
    world.ecs.throttleNext('UpdateService', calls);
    return ecs.setDesired(service, 3).catch(({ message }: Error) => message);
  };
  for (const ports of [inProcess(lab), lab.ports]) {
    expect(await throttled(2, ports())).toBeUndefined();
    expect(await throttled(3, ports())).toBe('ThrottlingException: Rate exceeded');
  }
});
