import { describe, expect, it } from 'vitest';
import { InvocationError, runLooks } from '../../lambda/look/invocation.ts';
import type { LookResult } from '../../lambda/look/look.ts';
import type { Ports, StartTimer } from '../../lambda/look/ports.ts';
import { type Lab, type LabPool, startLab } from '../support/lab.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };
const data: LabPool = { name: 'data', organization: 'data', tags: { team: 'data' }, desiredCount: 0 };

/** Runs one invocation with the world's clock: sleep lets the world's time pass. */
async function invoke(
  on: Lab,
  timeoutS = 55,
  onLook: (look: LookResult) => void = () => {},
  { past, startTimer }: { readonly past?: Ports['past']; readonly startTimer?: StartTimer } = {},
): Promise<readonly number[]> {
  const { timeline } = on.world;
  const start = timeline.now();
  const looksAt: number[] = [];
  const clock = {
    now: () => timeline.now(),
    sleep: async (ms: number) => on.pass(ms / 1000),
    ...(startTimer && { startTimer }),
  };
  await runLooks({
    ports: { ...on.ports(), past, clock },
    config: on.config,
    remainingMs: () => timeoutS * 1000 - (timeline.now() - start),
    onLook: (done) => {
      looksAt.push((timeline.now() - start) / 1000);
      onLook(done);
    },
  });
  return looksAt;
}

describe('a scheduled invocation', () => {
  it('looks once when there is nothing to do', async () => {
    const lab = await startLab({ pools: [cpu] });
    expect(await invoke(lab)).toEqual([0]);
  });

  it('ends the readings of a look when it is over', async () => {
    const lab = await startLab({ pools: [cpu] });
    const over = new AbortController();
    const { ecs, ...ports } = lab.ports();
    const never = () => {
      over.abort();
      return new Promise<never>(() => {});
    };
    const looking = runLooks({
      ports: { ...ports, ecs: { ...ecs, cluster: 'c', services: never, tasks: never, protections: never } },
      config: lab.config,
      remainingMs: () => 55_000,
      signal: over.signal,
      onLook: () => {},
    });
    await expect(looking).rejects.toThrow('the invocation ended before the answer came');
  });

  it('looks every 10 s while a task is starting, and never into the last 5 s', async () => {
    const lab = await startLab({ pools: [cpu], latencies: { boot: [90_000, 90_000] } });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    expect(await invoke(lab)).toEqual([0, 10, 20, 30, 40]);
    expect(await invoke(lab, 16)).toEqual([0, 10]);
    expect(await invoke(lab, 15)).toEqual([0]);
  });

  it('reads past builds only in the time before the next look, though coderd does not answer', async () => {
    const lab = await startLab({ pools: [cpu], latencies: { boot: [90_000, 90_000] } });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const budgetsMs: number[] = [];
    const isAborted: boolean[] = [];
    const past = {
      read: async ({ signal }: { readonly signal: AbortSignal }) => void isAborted.push(signal.aborted),
    };
    // the time of such a reading is up at once, that of the look's own readings never
    const startTimer: StartTimer = (ms, act) => {
      if (ms < 30_000) budgetsMs.push(ms);
      if (ms < 30_000) act();
      return () => {};
    };
    expect(await invoke(lab, 22, undefined, { past, startTimer })).toEqual([0, 10]);
    expect(budgetsMs).toEqual([5_000, 5_000]);
    expect(isAborted).toEqual([true, true]);
    expect(await invoke(lab, 8, undefined, { past, startTimer })).toEqual([0]);
    expect(budgetsMs).toEqual([5_000, 5_000, 3_000]);
    expect(await invoke(lab, 5.5, undefined, { past, startTimer })).toEqual([0]);
    expect(budgetsMs).toHaveLength(3);
  });

  it('looks once when the only job is unschedulable', async () => {
    const lab = await startLab({ pools: [cpu] });
    lab.world.coderd.submitJob({ organization: 'default', tags: { cluster: 'tpu' }, durationMs: 60_000 });
    expect(await invoke(lab)).toEqual([0]);
  });

  it('looks again only if a look that takes as long ends 5 s before the timeout', async () => {
    const lab = await startLab({ pools: [cpu], latencies: { boot: [90_000, 90_000] } });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const own = lab;
    const { ecs, ...ports } = own.ports();
    const services = ecs.services.bind(ecs);
    ecs.services = async () => {
      own.pass(3);
      return services();
    };
    const slow = (): Ports => ({ ...ports, ecs });
    expect(await invoke({ ...own, ports: slow }, 18)).toEqual([3]);
    expect(await invoke({ ...own, ports: slow }, 19)).toEqual([3, 13]);
  });

  it('passes the duration of the look to its report, and saves the record with 5 s left', async () => {
    const lab = await startLab({ pools: [cpu] });
    const { timeline } = lab.world;
    const { ecs, ...ports } = lab.ports();
    const services = ecs.services.bind(ecs);
    ecs.services = async () => {
      lab.pass(3);
      return services();
    };
    const tookMs: number[] = [];
    let saved = 0;
    const record = { ready: async () => {}, restore: () => {}, save: async () => (saved += 1) };
    const run = (remainingMs: number) =>
      runLooks({
        ports: {
          ...ports,
          ecs,
          record: record as never,
          clock: { now: () => timeline.now(), sleep: async () => {} },
        },
        config: lab.config,
        remainingMs: () => remainingMs,
        onLook: (_, durationMs) => tookMs.push(durationMs),
      });
    await run(6_000);
    await run(5_000);
    expect(tookMs).toEqual([3_000, 3_000]);
    expect(saved).toBe(1);
  });

  it('looks, saves and reads nothing more once it is aborted', async () => {
    const lab = await startLab({ pools: [cpu], latencies: { boot: [90_000, 90_000] } });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const over = new AbortController();
    const done: string[] = [];
    const record = { ready: async () => {}, restore: () => {}, save: async () => done.push('save') };
    const past = { read: async () => void done.push('read') };
    const clock = { now: () => lab.world.timeline.now(), sleep: async () => void done.push('sleep') };
    await runLooks({
      ports: { ...lab.ports(), record: record as never, past, clock },
      config: lab.config,
      remainingMs: () => 55_000,
      signal: over.signal,
      onLook: () => {
        done.push('look');
        over.abort();
      },
    });
    expect(done).toEqual(['look']);
  });

  it('tells the memory until when it rests, and sleeps no negative time', async () => {
    const lab = await startLab({ pools: [cpu], latencies: { boot: [90_000, 90_000] } });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const { timeline } = lab.world;
    const startedAt = timeline.now();
    const { memory, ...ports } = lab.ports();
    const rests: number[] = [];
    if (memory !== undefined) memory.rest = (until) => void rests.push((until - startedAt) / 1000);
    const slept: number[] = [];
    const clock = {
      now: () => timeline.now(),
      sleep: async (ms: number) => {
        slept.push(ms);
        lab.pass(ms / 1000 + 1);
      },
    };
    // its message is lost, which takes longer than the look may wait
    const relay = {
      ...{ isOpen: () => true, isDue: () => true, isOwn: () => true, rest: () => {} },
      handOver: async () => {
        lab.pass(11);
        return false;
      },
    };
    await runLooks({
      ports: { ...ports, memory, relay: relay as never, clock },
      config: lab.config,
      remainingMs: () => 22_000 - (timeline.now() - startedAt),
      onLook: () => {},
    });
    expect(slept).toEqual([0]);
    expect(rests).toEqual([60]);
  });

  it('continues when the report of a look throws', async () => {
    const lab = await startLab({ pools: [cpu] });
    lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
    const looks = await invoke(lab, 55, () => {
      throw new Error('no space left for logs');
    });
    expect(looks.length).toBeGreaterThan(1);
  });
});

it('an invocation that fails twice in the same way says so once', () => {
  const { message, errors } = new InvocationError([{ message: 'a' }, { message: 'b' }, { message: 'a' }]);
  expect(message).toBe('a\nb');
  expect(errors.map(String)).toEqual(['LookError: a', 'LookError: b', 'LookError: a']);
});

describe('a failing pool', () => {
  it('does not stop other pools and fails the invocation with one line per cause', async () => {
    const lab = await startLab({ pools: [cpu, data] });
    const { world } = lab;
    for (const organization of ['default', 'data'])
      world.coderd.submitJob({
        organization,
        tags: organization === 'data' ? { team: 'data' } : {},
        durationMs: 1000,
      });
    world.secrets.put(world.tokenSecretName, world.coderd.addToken({ canRead: ['default'] }));
    const error = await invoke(lab, 15).catch((cause: unknown) => cause);
    expect(world.service('cpu').state.desiredCount).toBe(1);
    expect(world.service('data').state.desiredCount).toBe(0);
    expect(error).toBeInstanceOf(InvocationError);
    const lines = (error as InvocationError).message.split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^organization "data": no permission to list provisioner jobs: listing provisioner jobs of organization "data": .*organization template admin role.* coderd answered 404/,
    );
    expect(lines[1]).toMatch(/^organization "data": no permission to list provisioner daemons/);
    expect((error as InvocationError).errors.map((each) => String(each))).toEqual(
      lines.map((line) => expect.stringContaining(line)),
    );
  });

  it('fails alone when ECS refuses its update', async () => {
    const lab = await startLab({ pools: [cpu, { ...data, organization: 'default' }] });
    for (const tags of [{}, { team: 'data' }])
      lab.world.coderd.submitJob({ organization: 'default', tags, durationMs: 1000 });
    const { ecs, ...ports } = lab.ports();
    const service = lab.world.service('cpu').identity.arn;
    const setDesired = ecs.setDesired.bind(ecs);
    ecs.setDesired = async (arn, count) => {
      if (arn === service) throw new Error('ServiceNotActiveException: Service was not ACTIVE.');
      await setDesired(arn, count);
    };
    const failed = runLooks({
      ports: { ...ports, ecs },
      config: lab.config,
      remainingMs: () => 6_000,
      onLook: () => {},
    });
    await expect(failed).rejects.toThrow(
      'setting the desired count of pool "cpu" from 0 to 1: ServiceNotActiveException: Service was not ACTIVE.',
    );
    expect(lab.world.service('data').state.desiredCount).toBe(1);
  });
});
