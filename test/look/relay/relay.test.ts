/** The looks of a minute, each started by a message of the one before. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../lab/world/base/random.ts';
import { VirtualScheduler } from '../../../lab/world/base/virtual-scheduler.ts';
import { NoAnswer } from '../../../lab/world/coderd/routes/in-process.ts';
import { InProcessFunction } from '../../../lab/world/in-process/function.ts';
import { atOnce } from '../../../lab/world/in-process/ports.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { InvocationError } from '../../../lambda/look/invocation.ts';
import { Relay } from '../../../lambda/look/relay/relay.ts';
import { type Lab, START, startLab } from '../../support/lab.ts';

const pool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };
const FORGED = JSON.stringify({ sentAt: Date.parse('2100-01-01'), until: Date.parse('2100-01-01') });

let lab: Lab;
beforeEach(async () => {
  // a job waits for an hour, so every plan asks for a look 10 s later
  lab = await startLab({
    pools: [pool],
    latencies: { boot: [3_600_000, 3_600_000] },
    overHttp: false,
  });
  lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
});

function deploy({ world, config }: Pick<Lab, 'world' | 'config'>, { isScheduled = true } = {}) {
  const scheduler = new VirtualScheduler(world.timeline);
  const start = scheduler.now();
  const line = {
    coderd: async <T>(answer: () => T): Promise<T> => {
      if (deployed.isCoderdDown) throw new NoAnswer('coderd is down');
      return answer();
    },
    ecs: atOnce,
    others: atOnce,
  };
  const autoscaler = new InProcessFunction({
    world,
    scheduler,
    config: () => config,
    random: new Random(1),
    line: () => line,
    onLook: () => deployed.looksAt.push((scheduler.now() - start) / 1000),
    onInvoked: ({ startedAt, error }) => {
      deployed.billedMs += scheduler.now() - startedAt;
      if (error !== undefined) deployed.failures.push(error);
    },
    onSendFailure: (cause) => deployed.warnings.push(cause),
  });
  const deployed = {
    queue: autoscaler.queue,
    isCoderdDown: false,
    /** The seconds of each look since the start. */
    looksAt: [] as number[],
    /** Milliseconds that invocations took, all together. */
    billedMs: 0,
    warnings: [] as unknown[],
    failures: [] as unknown[],
    minutes: 0,
    /** Lets minutes pass, up to the next invocation of the schedule. */
    runMinutes: async (minutes: number): Promise<void> => {
      deployed.minutes += minutes;
      await scheduler.advanceTo(plusMs(start, deployed.minutes * MINUTE_MS - 1));
    },
  };
  if (isScheduled) void autoscaler.run(0);
  return deployed;
}

const looksOf = ({ looksAt }: ReturnType<typeof deploy>, minute: number): number =>
  looksAt.filter((at) => Math.floor(at / 60) === minute).length;

describe('the looks of a minute', () => {
  it('go on by messages, and no invocation waits between them', async () => {
    const deployed = deploy(lab);
    await deployed.runMinutes(2);
    expect(deployed.looksAt).toEqual([0, 10.2, 20.4, 30.6, 40.8, 51, 60, 70.2, 80.4, 90.6, 100.8, 111]);
    expect(deployed.billedMs).toBe(0);
  });

  it('do not grow in number over an hour in which every message comes twice', async () => {
    const deployed = deploy(lab);
    deployed.queue.fate = () => ({ copies: 2, lateMs: 0 });
    await deployed.runMinutes(60);
    const counts = Array.from({ length: 60 }, (_, minute) => looksOf(deployed, minute));
    expect(Math.max(...counts)).toBeLessThanOrEqual(2 * 6);
    expect(counts.at(-1)).toBeLessThanOrEqual(counts[1] ?? 0);
  });

  it('end with a lost message, and begin again with the next minute', async () => {
    let sent = 0;
    const deployed = deploy(lab);
    deployed.queue.fate = () => ({ copies: sent++ === 1 ? 0 : 1, lateMs: 0 });
    await deployed.runMinutes(2);
    expect(deployed.looksAt).toEqual([0, 10.2, 60, 70.2, 80.4, 90.6, 100.8, 111]);
  });

  it('end if a message comes after the end of its minute', async () => {
    let sent = 0;
    const deployed = deploy(lab);
    deployed.queue.fate = () => ({ copies: 1, lateMs: sent++ === 1 ? 45_000 : 0 });
    await deployed.runMinutes(2);
    expect(deployed.looksAt).toEqual([0, 10.2, 60, 70.2, 80.4, 90.6, 100.8, 111]);
  });

  it.each([
    { until: 60, dueAt: 9.5, because: 'after a rest of ten seconds, less what clocks differ' },
    { until: 5, dueAt: 4.5, because: 'before the minute of the rest ends' },
  ])('a message is due again at $dueAt s: $because', ({ until, dueAt }) => {
    const relay = new Relay({ send: async () => {} }, () => {});
    const time = (seconds: number) => plusMs(START, seconds * 1_000);
    relay.rest({ until: time(until), now: time(0) });
    const message = { sentAt: time(1), until: time(120) };
    expect(relay.isDue(message, time(dueAt - 0.1))).toBe(false);
    expect(relay.isDue(message, time(dueAt))).toBe(true);
  });

  it('go on with the newest message that a process has sent, not before its time', async () => {
    const relay = new Relay({ send: async () => {} }, () => {});
    const time = (seconds: number) => plusMs(START, seconds * 1000);
    const until = time(50);
    await relay.handOver({ delayMs: 10_000, until, now: time(2) });
    expect(relay.isDue({ sentAt: time(1), until }, time(11))).toBe(false);
    expect(relay.isDue({ sentAt: time(2), until }, time(12))).toBe(true);
    expect(relay.isDue({ sentAt: time(2), until }, until)).toBe(false);
    expect(relay.isDue({ sentAt: time(9), until }, time(10))).toBe(false);
    expect([1, 2].map((second) => relay.isOwn({ sentAt: time(second), until }))).toEqual([false, true]);
  });

  it('wait in their invocation for an hour after a message was refused, with one warning', async () => {
    const deployed = deploy(lab);
    deployed.queue.isDown = true;
    await deployed.runMinutes(59);
    expect(deployed.warnings).toHaveLength(1);
    expect(deployed.looksAt.slice(0, 6)).toEqual([0, 10, 20, 30, 40, 60]);
    deployed.queue.isDown = false;
    await deployed.runMinutes(3);
    expect(deployed.warnings).toHaveLength(1);
    expect(deployed.looksAt.slice(-6)).toEqual([3660, 3670.2, 3680.4, 3690.6, 3700.8, 3711]);
  });

  it('wait in their invocation if the next one is due within a second', async () => {
    const deployed = deploy({ ...lab, config: { ...lab.config, looks: { everyMs: 900 } } });
    await deployed.runMinutes(1);
    expect(deployed.billedMs).toBeGreaterThan(49_000);
    expect(deployed.looksAt.slice(0, 3)).toEqual([0, 0.9, 1.8]);
  });

  it('go on through the minute with a look every 2 s, as the deployed function may loop', async () => {
    const deployed = deploy({ ...lab, config: { ...lab.config, looks: { everyMs: 2_000 } } });
    await deployed.runMinutes(3);
    expect([0, 1, 2].map((minute) => looksOf(deployed, minute))).toEqual([26, 26, 26]);
  });

  it.each([
    { scenario: 'a job waits', pending: true },
    { scenario: 'nothing happens', pending: false },
  ])('are few if somebody forges 1,000 messages while $scenario', async ({ pending }) => {
    if (!pending) lab = await startLab({ pools: [pool], overHttp: false });
    const deployed = deploy(lab);
    for (let count = 0; count < 1_000; count++) deployed.queue.send(FORGED, 3);
    await deployed.runMinutes(1);
    expect(looksOf(deployed, 0)).toBeLessThanOrEqual(12);
  });

  it('end within a minute of a forged message while the schedule is off', async () => {
    const deployed = deploy(lab, { isScheduled: false });
    deployed.queue.send(FORGED, 0);
    await deployed.runMinutes(10);
    expect(Math.max(...deployed.looksAt)).toBeLessThanOrEqual(60);
  });

  it('go on after a failed look, whose invocation fails with every cause', async () => {
    const deployed = deploy(lab);
    await deployed.runMinutes(1);
    deployed.isCoderdDown = true;
    await deployed.runMinutes(1);
    expect(deployed.looksAt).toHaveLength(12);
    expect(deployed.failures).toHaveLength(6);
    for (const error of deployed.failures) expect(error).toBeInstanceOf(InvocationError);
  });
});
