/** Where the waits of a trace went, in each scenario of the project. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../lambda/config/read.ts';
import { type EpochMs, type JobId, plusMs } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS } from '../../../lambda/decision/model/units.ts';
import type { JobWait } from '../../../lambda/look/waits/job-wait.ts';
import { IS_FULL, rows } from '../../../test/support/runs.ts';
import { peopleWait } from '../../what-if/replay/figures.ts';
import { run } from '../../what-if/replay/run.ts';
import { configFileOf, SCENARIOS } from '../../what-if/scenarios/index.ts';
import { generateTrace } from '../../what-if/trace/generate/generate.ts';
import type { Scenario } from '../../what-if/trace/generate/scenario.ts';
import type { Trace } from '../../what-if/trace/trace.ts';

/** The large ones take minutes. */
const SMALL = SCENARIOS.filter(({ name }) => !/^(3k|10k)/.test(name));

/** A Tuesday from 7:00 to 11:00 in Berlin. */
function morningOf(scenario: Scenario): Trace {
  const day = generateTrace({ ...scenario, from: '2026-04-07' }, { seed: 1, days: 1 });
  const [from, to] = [7, 11].map((hour) => plusMs(day.from, hour * HOUR_MS)) as [EpochMs, EpochMs];
  return { ...day, from, to, jobs: day.jobs.filter(({ at }) => from <= at && at < to) };
}

describe('the waits of a trace', () => {
  it.each(rows(SMALL, 1))(
    '$name: the parts of each wait add up, and few waits are unknown',
    async (scenario) => {
      const { config } = readConfig(readFileSync(configFileOf(scenario), 'utf8'), configFileOf(scenario));
      const waits: JobWait[] = [];
      const { peopleWait: people } = await run(
        { kind: 'autoscaler' },
        {
          trace: IS_FULL ? generateTrace(scenario, { seed: 1, days: 1 }) : morningOf(scenario),
          ...{ config, seed: 1, valueOfMinute: 0.1, dollarsPerHour: () => 0.1, isPictured: false },
          onWaits: (started) => waits.push(...started.waits),
        },
      );
      expect(waits.length).toBeGreaterThan(5);
      expect(new Set(waits.map(({ id }) => id)).size).toBe(waits.length);
      for (const { parts, waitMs, createdAt, startedAt } of waits) {
        expect(Object.values(parts).reduce((all, ms) => all + ms, 0)).toBe(waitMs);
        expect(waitMs).toBe(startedAt - createdAt);
      }
      expect(people?.missed).toBeLessThanOrEqual((people?.jobs ?? 0) / 6);
      const all = Object.values(people?.parts ?? {}).reduce((total, ms) => total + ms, 0);
      expect(people?.parts.unknown ?? 0).toBeLessThanOrEqual(all / 6);
    },
  );

  it('have the whole wait of a job that no look saw as unknown', () => {
    const job = (id: string, waitMs: number) => ({
      id: id as JobId,
      createdAt: 1000 as EpochMs,
      startedAt: (1000 + waitMs) as EpochMs,
    });
    const seen = { parts: { queued: 5 } } as JobWait;
    expect(peopleWait([job('a', 5), job('b', 7)], new Map([['a', seen]]))).toEqual({
      jobs: 2,
      missed: 1,
      parts: { queued: 5, unknown: 7 },
    });
  });
});
