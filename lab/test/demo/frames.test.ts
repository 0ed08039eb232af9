/** Plays the demo and `npm run try`, and compares each frame of their page with the plan of the same look. */
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { frameOf, type WatchFrame } from '../../../cli/watch/frame.ts';
import { History } from '../../../cli/watch/strip/history.ts';
import { checkConfig } from '../../../lambda/config/check.ts';
import { type Deliberation, deliberate } from '../../../lambda/decision/decide.ts';
import { type EpochMs, isoTime, plusMs } from '../../../lambda/decision/model/brands.ts';
import { sum } from '../../../lambda/decision/model/collections.ts';
import type { Config } from '../../../lambda/decision/model/config.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { ageText, transitionsCount } from '../../../lambda/explain/format.ts';
import { starterText } from '../../../lambda/explain/text.ts';
import { observe } from '../../../lambda/look/observe.ts';
import { demoConfig, demoWorld, LOOKS_MS, planAutostarts, planSteps, SCHEDULE } from '../../demo/scenario.ts';
import { addScheduledWorkspaces, planBuilds } from '../../demo/try/builds.ts';
import { POOLS, tryConfig } from '../../demo/try/pools.ts';
import { Random } from '../../world/base/random.ts';
import { VirtualScheduler } from '../../world/base/virtual-scheduler.ts';
import { InProcessFunction } from '../../world/in-process/function.ts';
import { inProcessPorts } from '../../world/in-process/ports.ts';
import { World } from '../../world/world.ts';

const URL = 'https://coder.example.com';
const START = Date.parse('2026-03-02T09:00:00Z') as EpochMs;

type Played = { readonly world: World; readonly config: Config; readonly firstMs: number };

function demo(): Played {
  const world = demoWorld({ seed: 1 });
  planSteps(world, new Random(1), () => {});
  planAutostarts(world, () => {});
  const { config } = checkConfig(parse(demoConfig(URL)));
  return { world, config: { ...config, looks: { everyMs: LOOKS_MS } }, firstMs: SCHEDULE.firstMs };
}

function tried(): Played {
  const latencies = { boot: [3_000, 7_000], stop: [2_000, 6_000], healthyMs: 10_000 } as const;
  const world = new World({ start: START, seed: 1, pools: POOLS, latencies, readLagMs: 0 });
  addScheduledWorkspaces(world);
  planBuilds({ world, random: new Random(1), announce: () => {} });
  const { config } = checkConfig(parse(tryConfig(URL)));
  return { world, config: { ...config, looks: { everyMs: 10_000 } }, firstMs: 5_000 };
}

const ROLLING: ReadonlySet<string> = new Set(['old-revision', 'holding-for-deployment']);

/** What a frame says that is not so, by its kind. */
function contradictionsIn(frame: WatchFrame, { plan }: Deliberation): readonly string[] {
  const { headline, findings, unschedulable, waiting, lanes, next, takenAt } = frame;
  const jobs = sum(waiting, (row) => row.jobs);
  const since = waiting.map((row) => (Date.parse(takenAt) - Date.parse(row.since)) / 1000);
  const [, waits = 'no'] = /^(\d+|no) jobs? (?:wait|has waited)/.exec(headline) ?? [];
  const [, found = 'no'] = /; (\d+|no) findings?$/.exec(headline) ?? [];
  const numberOf = (text: string): number => (text === 'no' ? 0 : Number(text));
  const wholes = new Set(findings.map(({ whole }) => whole));
  const texts = new Set(next.map(({ text }) => text));
  const deploying = new Set<string>(
    plan.pools.flatMap(({ name, why }) => (why.some(({ code }) => ROLLING.has(code)) ? [name] : [])),
  );
  const served = sum(plan.assignment, (row) => row.jobs);
  const checks: Readonly<Record<string, boolean>> = {
    'findings in the headline': numberOf(found) === findings.length,
    'findings of the plan': findingLines(plan.findings).every((line) => wholes.has(line)),
    'jobs in the headline': numberOf(waits) === jobs,
    'jobs of the plan': jobs === served + sum(plan.unserved, (row) => row.jobs),
    'unschedulable jobs': headline.includes('unschedulable') === unschedulable.length > 0,
    'unschedulable jobs of the plan': unschedulable.length === plan.unserved.length,
    'the age of the oldest job': jobs === 0 || headline.includes(ageText(Math.max(...since))),
    'lanes of the plan': lanes.length === plan.pools.length,
    'counts of the plan': plan.pools.every(({ name, desired, notCreated }) =>
      lanes.some((lane) => lane.name === name && lane.desired === desired && lane.notCreated === notCreated),
    ),
    'more tasks than max': lanes.every(({ name, tasks, notCreated, desired, max }) => {
      // while ECS replaces tasks, its lists show an old one beside the new one for a moment
      if (deploying.has(name)) return true;
      const staying = tasks.filter(({ state }) => state !== 'gone' && state !== 'draining').length;
      const leaving = tasks.length - staying;
      const most = max ?? Number.POSITIVE_INFINITY;
      return staying + notCreated <= most && (desired.to ?? 0) <= most + leaving;
    }),
    'the time of the look': takenAt === plan.takenAt,
    'sentences of the plan': plan.forecast.every((row) =>
      [...texts].some(
        (text) =>
          text.startsWith(transitionsCount(row)) &&
          (text.endsWith(starterText(row)) || (row.pool === null && row.at > takenAt && !text.includes(';'))),
      ),
    ),
  };
  return Object.keys(checks).filter((name) => checks[name] === false);
}

/** The number of frames, and how many have each kind of contradiction. */
async function play({ world, config, firstMs }: Played, lengthMs: number, everyMs: number) {
  const scheduler = new VirtualScheduler(world.timeline);
  let lastLookAt: EpochMs | undefined;
  void new InProcessFunction({
    ...{ world, scheduler, config: () => config, random: new Random(1) },
    onLook: ({ snapshot }) => {
      lastLookAt = snapshot.takenAt;
    },
    onInvoked: ({ error }) => {
      if (error !== undefined) throw error;
    },
  }).run(firstMs);
  const ports = inProcessPorts(world, { scheduler });
  const counted = new Map<string, number>();
  const until = plusMs(world.timeline.now(), lengthMs);
  let frames = 0;
  while (world.timeline.now() < until) {
    await scheduler.advanceTo(plusMs(world.timeline.now(), everyMs));
    const snapshot = await observe(ports(), config);
    const deliberation = deliberate(snapshot, config);
    const at = lastLookAt ?? world.timeline.now();
    const lastLook = {
      kind: 'seen',
      takenAt: isoTime(at),
      ageSeconds: 0,
      failures: [],
      findings: [],
      logGroup: '',
    } as const;
    const log = { lastLook, waits: { kind: 'unknown', why: '' } as const };
    const frame = frameOf({
      snapshot,
      deliberation,
      config,
      log,
      changes: [],
      history: new History(),
      note: null,
    });
    frames += 1;
    for (const kind of contradictionsIn(frame, deliberation)) counted.set(kind, (counted.get(kind) ?? 0) + 1);
  }
  return { frames, contradictions: Object.fromEntries(counted) };
}

it('no frame of the demo contradicts itself or the plan', async () => {
  const played = await play(demo(), 8 * MINUTE_MS, 3_000);
  expect(played).toEqual({ frames: 160, contradictions: {} });
}, 60_000);

it('no frame of npm run try contradicts itself or the plan', async () => {
  const played = await play(tried(), 60 * MINUTE_MS, 15_000);
  expect(played).toEqual({ frames: 240, contradictions: {} });
}, 60_000);
