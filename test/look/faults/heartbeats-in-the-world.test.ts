/** Heartbeats that look old while the daemons live, and daemons that have really gone. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../lab/world/base/random.ts';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import { percentile } from '../../../lambda/decision/model/collections.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lambda/decision/model/units.ts';
import { findingLines } from '../../../lambda/explain/finding-text.ts';
import { reasonSentence } from '../../../lambda/explain/reason-text.ts';
import type { LookResult } from '../../../lambda/look/look.ts';
import { LookMemory } from '../../../lambda/look/look-memory.ts';
import { type Lab, type LabPool, START, startLongLab } from '../../support/lab.ts';
import { rows } from '../../support/runs.ts';

type Fault = (lab: Lab) => void;

const cpu: LabPool = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, warm: 5, max: 40 };
/** When the fault begins, in minutes. */
const BEGINS = 40;

const at = ({ world }: Lab, minute: number, run: () => void): void =>
  void world.timeline.after(minute * MINUTE_MS, run);

const behind =
  (ms: number): Fault =>
  (lab) =>
    at(lab, BEGINS, () => {
      lab.world.coderd.heartbeatAgeMs = () => ms;
    });

const aheadInTurn: Fault = (lab) => {
  const { coderd } = lab.world;
  at(lab, BEGINS, () => {
    lab.world.timeline.every(10 * SECOND_MS, () => {
      const isAhead = coderd.dateAheadMs() > 0;
      coderd.dateAheadMs = () => (isAhead ? 0 : 45_000);
    });
  });
};

const noneFor =
  (minutes: number): Fault =>
  (lab) => {
    const { coderd } = lab.world;
    at(lab, BEGINS, () => {
      coderd.heartbeatAgeMs = () => undefined;
    });
    at(lab, BEGINS + minutes, () => {
      coderd.heartbeatAgeMs = () => 0;
    });
  };

/** The connections of this share of the daemons end for good, although their processes go on. */
const lose =
  (share: number): Fault =>
  (lab) =>
    at(lab, BEGINS, () => {
      const live = liveIn(lab);
      lab.world.coderd.loseDaemons(live.slice(0, Math.ceil(live.length * share)).map(({ id }) => id));
    });

function liveIn({ world: { coderd, timeline } }: Lab) {
  const since = plusMs(timeline.now(), -90 * SECOND_MS);
  return coderd.daemons().filter(({ lastSeenAt }) => lastSeenAt >= since);
}

type Story = {
  readonly fault?: Fault;
  readonly pool?: Partial<LabPool>;
  readonly seed?: number;
  readonly minutes: number;
  /** Minutes until the last of 20 jobs an hour. @default 20 minutes before the end */
  readonly jobsUntil?: number;
};

/** The autoscaler as in production, in a warm process, with 20 jobs an hour at random times. */
async function play({ fault = () => {}, pool, seed = 1, minutes, jobsUntil = minutes - 20 }: Story) {
  const submitted = new Map<string, number>();
  const waits: number[] = [];
  const now = (): number => lab.world.timeline.now();
  const lab: Lab = await startLongLab({
    pools: [{ ...cpu, ...pool }],
    seed,
    onAcquired: ({ id }) => waits.push(now() - (submitted.get(id) ?? now())),
  });
  const { world } = lab;
  const random = new Random(seed);
  for (let minute = 10; minute < jobsUntil; minute += -3 * Math.log(1 - random.next()))
    at(lab, minute, () => {
      const durationMs = random.whole(60, 480) * SECOND_MS;
      submitted.set(world.coderd.submitJob({ organization: 'default', tags: {}, durationMs }), now());
    });
  fault(lab);
  let peak = 0;
  world.timeline.every(10 * SECOND_MS, () => {
    peak = Math.max(peak, world.ecs.counts().running);
  });
  const memory = new LookMemory();
  const ports = lab.ports();
  const looks = await lab.invoke(minutes, () => ({ ...ports, memory }));
  const { launched, running } = world.ecs.counts();
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    ...{ lab, looks, peak, launched, running },
    p95S: percentile(sorted, 0.95) / SECOND_MS,
    longestS: (sorted.at(-1) ?? 0) / SECOND_MS,
    isServed: waits.length === submitted.size,
    killed: world.figures().killed,
    codes: new Set(looks.flatMap(({ plan }) => plan.findings.map(({ code }) => code))),
  };
}

const SEEDS = [1, 2, 3, 4, 5];
const MINUTES = 150;

/** The same story without a fault. */
const sane = memoize((key: string) => {
  const [seed = 1, warm = 5] = key.split(' ').map(Number);
  return play({ seed, minutes: MINUTES, pool: { warm } });
});

function memoize<T>(of: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? of(key);
    known.set(key, value);
    return value;
  };
}

describe.each([
  { name: 'that are 45 s behind', fault: behind(45_000), found: 'heartbeats-late' },
  { name: 'that are 45 s behind at every second answer', fault: aheadInTurn, found: 'heartbeats-late' },
  { name: 'that are 120 s behind', fault: behind(120_000), found: 'heartbeats-old' },
  { name: 'that coderd does not write for 15 minutes', fault: noneFor(15), found: 'heartbeats-old' },
  { name: 'that coderd does not write for 80 minutes', fault: noneFor(80), found: 'heartbeats-old' },
] as const)('heartbeats $name', ({ fault, found }) => {
  it.each(rows(SEEDS, 1))('launch hardly more than none do, and no job waits (seed %i)', async (seed) => {
    const { launched, peak } = await sane(`${seed} 5`);
    const story = await play({ seed, minutes: MINUTES, fault });
    expect(story.launched).toBeLessThanOrEqual(launched + 2);
    expect(story.peak).toBeLessThanOrEqual(peak + 2);
    expect(story).toMatchObject({ killed: 0, isServed: true, p95S: 0 });
    expect(story.codes).toContain(found);
    expect(story.codes).not.toContain('tasks-without-daemon');
  });

  it.each(rows(SEEDS, 1))('make jobs of a small pool wait hardly longer (seed %i)', async (seed) => {
    const { launched, p95S } = await sane(`${seed} 1`);
    const story = await play({ seed, minutes: MINUTES, pool: { warm: 1 }, fault });
    expect(story.launched).toBeLessThanOrEqual(launched + 4);
    expect(story).toMatchObject({ killed: 0, isServed: true });
    expect(story.p95S).toBeLessThanOrEqual(p95S + 20);
    expect(story.longestS).toBeLessThan(150);
  });
});

describe('heartbeats that coderd writes again', () => {
  it('launch nothing, and the tasks above the floor drain', async () => {
    const { launched, running, codes } = await play({ minutes: 100, jobsUntil: BEGINS, fault: noneFor(30) });
    const { launched: saneLaunches } = await play({ minutes: 100, jobsUntil: BEGINS });
    expect(launched).toBe(saneLaunches + 1);
    expect(running).toBe(5);
    expect(codes).not.toContain('tasks-without-daemon');
  });
});

describe('daemons that have really gone, although their tasks hold leases', () => {
  it.each(rows(SEEDS, 1))('are all replaced, and jobs wait for a start at most (seed %i)', async (seed) => {
    const story = await play({ seed, minutes: 100, fault: lose(1) });
    expect(story).toMatchObject({ isServed: true, running: 5 });
    expect(story.longestS).toBeLessThan(150);
    expect(liveIn(story.lab)).toHaveLength(5);
  });

  it.each(rows(SEEDS, 1))(
    'make jobs of a pool at max wait for three minutes at most (seed %i)',
    async (seed) => {
      const story = await play({ seed, minutes: 100, pool: { max: 5 }, fault: lose(1) });
      expect(story).toMatchObject({ isServed: true, running: 5 });
      expect(story.longestS).toBeLessThan(200);
      expect(liveIn(story.lab)).toHaveLength(5);
    },
  );

  it.each([
    { share: 1, because: 'one new daemon shows that the others have gone' },
    { share: 0.6, because: 'the others show it' },
  ])('$share of them are replaced after 40 minutes without a job: $because', async ({ share }) => {
    const story = await play({ minutes: BEGINS + 40, jobsUntil: BEGINS - 10, fault: lose(share) });
    expect(story.running).toBe(5);
    expect(liveIn(story.lab)).toHaveLength(5);
    expect(story.codes).toContain('tasks-without-daemon');
  });
});

describe('an autostart that is due while coderd writes no heartbeats', () => {
  it('is made, because one task launches for it in an hour, and the next one an hour later', async () => {
    const schedules = ['5 10 * * *', '25 10 * * *'];
    const lab = await startLongLab({ pools: [{ ...cpu, warm: 2 }] });
    const { coderd, ecs } = lab.world;
    const template = coderd.addTemplate({ organization: 'default' });
    const [first, second] = schedules.map((schedule) => coderd.workspaces.add({ template, schedule }));
    noneFor(180)(lab);
    await lab.invoke(180);
    const startsOf = (id = '') =>
      coderd
        .buildsOf(id)
        .slice(1)
        .map(({ createdAt }) => createdAt);
    expect(startsOf(first?.id)).toEqual([plusMs(START, 65 * MINUTE_MS)]);
    expect(startsOf(second?.id)[0]).toBeLessThan(plusMs(START, 130 * MINUTE_MS));
    expect(ecs.counts().launched).toBeLessThanOrEqual(2 + 3);
  });
});

describe('what a person reads', () => {
  /** The plan and the findings of the last look so many minutes after the fault has begun. */
  const said = (looks: readonly LookResult[], minute: number): string => {
    const until = plusMs(START, (BEGINS + minute) * MINUTE_MS);
    const { plan } = looks.findLast(({ snapshot }) => snapshot.takenAt <= until) ?? {};
    const why = plan?.pools.flatMap((pool) => pool.why.map(reasonSentence)) ?? [];
    return [...why, ...findingLines(plan?.findings ?? [])].join('\n');
  };

  it.each([3, 20])('names heartbeats and clocks while none are written (minute %i)', async (minute) => {
    const { looks } = await play({ minutes: 65, jobsUntil: BEGINS, fault: noneFor(60) });
    const text = said(looks, minute);
    expect(text).toContain('scale-in on hold: the heartbeats of its daemons look old (see findings)');
    expect(text).toMatch(/coderd has not seen (\d) of \1 daemons with a lease for over 90 s \(last seen/);
    expect(text).toContain("Compare the clocks of coderd's replicas and its database");
    expect(text).not.toMatch(/task's log|will drain/);
  });

  it.each([4, 20])('names heartbeats and clocks while they are 45 s behind (minute %i)', async (minute) => {
    const { looks } = await play({ minutes: 65, fault: behind(45_000) });
    const text = said(looks, minute);
    expect(text).toMatch(/heartbeats looked too old from .* to .*\. (At this look )?coderd has/);
    expect(text).not.toMatch(/task's log|on hold/);
  });
});
