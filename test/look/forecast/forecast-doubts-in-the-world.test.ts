/**
 * A forecast that is unreadable, old or wrong. No look fails, no daemon drains because of it, and
 * transitions that were known still happen.
 */
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { InProcessCoderd } from '../../../lab/world/coderd/routes/in-process.ts';
import { atOnce } from '../../../lab/world/in-process/ports.ts';
import { CoderdAdapter } from '../../../lambda/adapters/coderd/coderd.ts';
import { Forecast } from '../../../lambda/adapters/coderd/forecast/forecast.ts';
import { CoderdError, type Document } from '../../../lambda/adapters/coderd/http/http.ts';
import { type EpochMs, plusMs } from '../../../lambda/decision/model/brands.ts';
import type { Workspace } from '../../../lambda/decision/model/snapshot.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import type { Ports } from '../../../lambda/look/ports.ts';
import { expectNoHarm } from '../../support/builds.ts';
import { type Lab, type LabOptions, type LabPool, START } from '../../support/lab.ts';
import { startWatched, type Watch } from '../../support/watch.ts';

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, idleTimeout: '60s' };

/** A workspace whose autostop is at 9:30. */
async function start(options: Partial<LabOptions> = {}): Promise<Lab & { readonly watched: Watch }> {
  const started = await startWatched({ pools: [cpu], ...options });
  const { coderd } = started.world;
  const template = coderd.addTemplate({ organization: 'default', defaultTtlMs: HOUR_MS / 2 });
  coderd.workspaces.add({ template, running: true });
  return started;
}

const atMinute = (minutes: number): EpochMs => plusMs(START, minutes * MINUTE_MS);

const submit = ({ world }: Lab): unknown =>
  world.coderd.submitJob({ organization: 'default', tags: {}, durationMs: MINUTE_MS });

function findingsOf(look: LookResult | undefined): readonly string[] {
  return [...new Set(look?.plan.findings.map(({ code }) => code))].sort();
}

/** Lets coderd answer some requests with 500. */
class FaultyCoderd extends InProcessCoderd {
  failing: RegExp | undefined;

  override async get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    if (this.failing?.test(path)) throw new CoderdError('refused', 'coderd answered 500');
    return super.get(path, query, schema);
  }
}

const makeFaulty = ({ world }: Lab) => new FaultyCoderd(world.coderd, atOnce);

describe('a forecast that fails', () => {
  it.each<{ failing: RegExp; findings: readonly string[] }>([
    { failing: /\/workspaces$/, findings: ['workspaces-stale'] },
    { failing: /\/templates$/, findings: ['templates-stale'] },
    { failing: /\/(?:workspaces|templates)/, findings: ['templates-stale', 'workspaces-stale'] },
  ])(
    'keeps the last daemon and serves known transitions in a warm function: $failing',
    async ({ failing, findings }) => {
      const on = await start();
      const faulty = makeFaulty(on);
      const forecast = new Forecast(faulty);
      const ports = (): Ports => ({ ...on.ports(), coderd: new CoderdAdapter(faulty, { forecast }) });
      await on.invoke(10, ports);
      faulty.failing = failing;
      const looks = await on.invoke(60, ports);
      expect(findingsOf(looks.at(-1))).toEqual(findings);
      expect(on.watched.late()).toEqual([]);
      expect(on.world.coderd.workspaces.all()[0]?.latestBuild.reason).toBe('autostop');
      // no task was launched in doubt, and the daemon for the stop stays
      expect(on.watched.mostRunning(START, atMinute(26))).toBe(0);
      expect(on.world.figures().tasks).toMatchObject({ launched: 1, running: 1 });
      faulty.failing = undefined;
      await on.invoke(10, ports);
      expect(on.world.figures().tasks.running).toBe(0);
      expectNoHarm(on);
    },
  );

  it('recovers without failures in cold functions once the forecast is readable', async () => {
    const on = await start();
    const faulty = makeFaulty(on);
    const ports = (): Ports => ({ ...on.ports(), coderd: new CoderdAdapter(faulty) });
    faulty.failing = /\/workspaces$/;
    const looks = await on.invoke(40, ports);
    expect(findingsOf(looks.at(-1))).toEqual(['workspaces-failed']);
    expect(on.world.figures().tasks.launched).toBe(0);
    expect(on.watched.left).not.toEqual([]);
    faulty.failing = undefined;
    await on.invoke(12, ports);
    expect(on.watched.left.at(-1)?.at).toBeLessThanOrEqual(atMinute(44));
    expect(on.world.figures().tasks).toMatchObject({ launched: 1, running: 0 });
    expectNoHarm(on);
  });
});

it('launches nothing and keeps the last daemon while the forecast is forbidden', async () => {
  const on = await start({ overHttp: true });
  const { coderd, secrets, tokenSecretName } = on.world;
  const poor = coderd.addToken({ canRead: 'all', canReadWorkspaces: [] });
  secrets.put(tokenSecretName, poor);
  const before = await on.invoke(10);
  expect(findingsOf(before.at(-1))).toEqual(['templates-forbidden', 'workspaces-forbidden']);
  expect(on.world.figures().tasks.launched).toBe(0);
  submit(on);
  submit(on);
  const looks = await on.invoke(40);
  expect(looks.at(-1)?.plan.pools[0]?.why).toContainEqual({ code: 'holding-for-forecast' });
  expect(on.watched.mostRunning(atMinute(20), atMinute(50))).toBe(1);
  // because it stayed
  expect(on.watched.late()).toEqual([]);
  secrets.put(tokenSecretName, coderd.addToken({ canRead: 'all' }));
  coderd.tokens.revoke(poor);
  const after = await on.invoke(12);
  expect(findingsOf(after.at(-1))).toEqual([]);
  expect(on.world.figures().tasks.running).toBe(0);
  expectNoHarm(on);
});

describe('a forecast with invalid data', () => {
  const ABSURD: readonly Partial<Workspace>[] = [
    { next_start_at: plusMs(START, -365 * 24 * HOUR_MS) },
    { next_start_at: plusMs(START, 365 * 24 * HOUR_MS) },
    { next_start_at: null },
    { next_start_at: Date.parse('0001-01-01T00:00:00Z') as EpochMs },
    { next_start_at: 8.64e15 as EpochMs },
    { next_start_at: START, autostart_schedule: 'CRON_TZ=Atlantis/Lost 61 25 * * 8' },
  ];

  it('does not delay existing jobs and has a bounded cost', async () => {
    const on = await startWatched({ pools: [cpu] });
    const { watched } = on;
    const { coderd } = on.world;
    const template = coderd.addTemplate({ organization: 'default', autostartDays: ['monday', 'sunday'] });
    for (const _ of ABSURD) coderd.workspaces.add({ template, schedule: '0 9 * * 0' });
    // builds that show that coderd polls every minute
    for (const minutes of [44, 31, 14, 7])
      coderd.workspaces.add({ template, reason: 'autostop', since: plusMs(START, -minutes * 60_000) });
    const sensible = coderd.workspaces.add({ template, running: true, ttlMs: 2 * HOUR_MS });
    const ports = (): Ports => {
      const { coderd: adapter, ...others } = on.ports();
      const forecast = adapter.forecast.bind(adapter);
      adapter.forecast = async (...asked) =>
        new Map(
          [...(await forecast(...asked))].map(([id, sight]) => {
            const items = sight.workspaces.items.map((item, place) =>
              item.id === sensible.id ? item : { ...item, ...ABSURD[place % ABSURD.length] },
            );
            return [id, { ...sight, workspaces: { ...sight.workspaces, items } }];
          }),
        );
      return { ...others, coderd: adapter };
    };
    await on.invoke(180, ports);
    expect(sensible.latestBuild.reason).toBe('autostop');
    expect(watched.late()).toEqual([]);
    expect(on.world.coderd.jobs()).toHaveLength(1);
    expectNoHarm(on);
    // some transitions stay overdue: one start an hour for them
    const { launched } = on.world.figures().tasks;
    expect(launched).toBeLessThanOrEqual(5);
    expect(watched.taskMinutes()).toBeLessThanOrEqual(launched * 10);
  });
});
