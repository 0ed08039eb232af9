/** The looks of a minute, each started by a message of the one before. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { virtualPorts } from '../../../backtest/replay/ports/ports.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { InvocationError, runLooks } from '../../../lambda/look/invocation.ts';
import { type LookMessage, type LookQueue, Relay } from '../../../lambda/look/relay/relay.ts';
import { VirtualScheduler } from '../../../simulator/base/virtual-scheduler.ts';
import { QueueModel } from '../../../simulator/queue/model.ts';
import { type Lab, START, startLab } from '../../support/lab.ts';

const TIMEOUT_MS = 55_000;

let lab: Lab;
beforeEach(async () => {
  // a job waits for an hour, so every plan asks for a look 10 s later
  const pool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 };
  lab = await startLab({
    pools: [pool],
    latencies: { boot: [3_600_000, 3_600_000] },
    overHttp: false,
  });
  lab.world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: 60_000 });
});
afterEach(() => lab.close());

/** Runs the function as Lambda does: each invocation in a process that is free, else in a new one. */
function deploy({ world, config }: Pick<Lab, 'world' | 'config'>) {
  const scheduler = new VirtualScheduler(world.timeline);
  const queue = new QueueModel(scheduler);
  const start = scheduler.now();
  const deployed = {
    queue,
    isCoderdDown: false,
    /** The seconds of each look since the start. */
    looksAt: [] as number[],
    /** Milliseconds that invocations took, all together. */
    billedMs: 0,
    warnings: [] as unknown[],
    failures: [] as unknown[],
    runMinutes: async (minutes: number): Promise<void> => {
      const run = async (): Promise<void> => {
        for (let minute = 0; minute < minutes; minute++) {
          void invoke();
          await scheduler.wait(MINUTE_MS);
        }
      };
      void scheduler.wait(0).then(run);
      await scheduler.advanceTo(plusMs(scheduler.now(), minutes * MINUTE_MS));
    },
  };
  const sender: LookQueue = {
    send: async (message, delayS) => {
      if (queue.isDown) throw new Error('AccessDenied');
      queue.send(JSON.stringify(message), delayS);
    },
  };
  const newProcess = () => ({
    relay: new Relay(sender, (cause) => deployed.warnings.push(cause)),
    ports: virtualPorts({
      ...{ world, scheduler, onCall: () => {} },
      isCoderdDown: () => deployed.isCoderdDown,
    }),
  });
  const free: ReturnType<typeof newProcess>[] = [];
  const invoke = async (message?: LookMessage): Promise<void> => {
    const startedAt = scheduler.now();
    const process = free.pop() ?? newProcess();
    await runLooks({
      ports: { ...process.ports(), relay: process.relay },
      ...{ config, message },
      remainingMs: () => startedAt + TIMEOUT_MS - scheduler.now(),
      onLook: () => deployed.looksAt.push((scheduler.now() - start) / 1000),
    }).catch((error: unknown) => deployed.failures.push(error));
    deployed.billedMs += scheduler.now() - startedAt;
    free.push(process);
  };
  queue.handler = (body) => invoke(JSON.parse(body) as LookMessage);
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

  it('go on with the newest message that a process has sent', async () => {
    const relay = new Relay({ send: async () => {} }, () => {});
    const time = (seconds: number) => plusMs(START, seconds * 1000);
    const until = time(50);
    await relay.handOver({ delayMs: 10_000, until, now: time(2) });
    expect(relay.isDue({ sentAt: time(1), until }, time(11))).toBe(false);
    expect(relay.isDue({ sentAt: time(2), until }, time(12))).toBe(true);
    expect(relay.isDue({ sentAt: time(2), until }, until)).toBe(false);
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
