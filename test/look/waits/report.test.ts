/** What the function logs about a look and about the jobs that started. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Look } from '../../../lambda/look/look-event.ts';
import type { Lab } from '../../support/lab.ts';
import { startWorld, submit } from './world.ts';

afterEach(() => vi.unstubAllEnvs());

/** The module reads its environment when it is loaded. */
async function loadTelemetry() {
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'test');
  vi.resetModules();
  return import('../../../lambda/telemetry/telemetry.ts');
}

/** The lines that the report of these looks writes. */
async function linesOf(
  { world }: Lab,
  looks: readonly Look['result'][],
): Promise<readonly Record<string, unknown>[]> {
  const { reporterOf } = await loadTelemetry();
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  const errors = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  try {
    const report = reporterOf({
      clock: { now: () => world.timeline.now(), sleep: async () => {} },
      perPool: false,
    });
    for (const result of looks) report({ result, calls: {}, durationMs: 0 });
  } finally {
    spy.mockRestore();
    errors.mockRestore();
  }
  return written
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function startedJob(): Promise<{ readonly lab: Lab; readonly looks: readonly Look['result'][] }> {
  const world = await startWorld();
  const before = await world.run(10);
  submit(world);
  return { lab: world, looks: [...before, ...(await world.run(200))] };
}

describe('the report of a look', () => {
  it('has one event about each look, and one about each started job', async () => {
    const { lab, looks } = await startedJob();
    const lines = await linesOf(lab, looks);
    expect(lines.filter(({ message }) => message === 'look')).toHaveLength(looks.length);
    expect(lines.filter(({ message }) => message === 'wait')).toHaveLength(1);
  });

  it('has the event and the metrics of the look if the waits cannot be computed', async () => {
    const { lab, looks } = await startedJob();
    const broken = looks.map(({ snapshot, ...result }) => ({
      ...result,
      // a job that no schema would let through
      snapshot: { ...snapshot, ecs: { ...snapshot.ecs, tasks: { status: 'ok', items: [null] } } },
    }));
    const lines = await linesOf(lab, broken as unknown as typeof looks);
    expect(lines.filter(({ message }) => message === 'look')).toHaveLength(looks.length);
    expect(lines.filter((line) => 'TickAge' in line)).toHaveLength(looks.length);
    expect(lines.filter(({ level }) => level === 'ERROR')).toMatchObject([
      { message: 'computing the waits of started jobs failed; this look tells none' },
    ]);
  });
});
