/** Overrides start and expire while builds run, with real looks and clients. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../lambda/decision/model/brands.ts';
import type { OverrideKind } from '../../../lambda/decision/model/plan.ts';
import { MINUTE_MS } from '../../../lambda/decision/model/units.ts';
import { tagKeysOf, tagsOfOverride } from '../../../lambda/decision/settings/overrides.ts';
import { lookEvent } from '../../../lambda/look/look-event.ts';
import { submit } from '../../support/builds.ts';
import { type Lab, type LabPool, START, startLongLab } from '../../support/lab.ts';
import { IS_FULL } from '../../support/runs.ts';

/** Removes an override like `autoscaler resume` and `unpin`. */
function takeAway({ world }: Lab, kind: OverrideKind): void {
  const service = world.service('cpu');
  const gone = new Set(tagKeysOf(kind));
  service.setTags(Object.fromEntries(Object.entries(service.state.tags).filter(([key]) => !gone.has(key))));
}

function aLab(pool: Partial<LabPool> = {}, seed = 1): Promise<Lab> {
  const cpu = { name: 'cpu', organization: 'default', tags: {}, desiredCount: 0, ...pool };
  return startLongLab({ pools: [cpu], readLagMs: 3_000, victims: 'worst', seed });
}

/** Adds tags to the pool's service. */
function tag({ world }: Lab, tags: Readonly<Record<string, string>>): void {
  const service = world.service('cpu');
  service.setTags({ ...service.state.tags, ...tags });
}

/** Overrides the pool until this many minutes after the start. */
function override(own: Lab, kind: OverrideKind, minutes: number, count?: number): void {
  const until = new Date(START + minutes * MINUTE_MS).toISOString();
  tag(
    own,
    tagsOfOverride({ kind, until, by: 'anna', why: 'a test', ...(count === undefined ? {} : { count }) }),
  );
}

const desired = ({ world }: Lab): number => world.service('cpu').state.desiredCount;
const running = ({ world }: Lab): number => world.figures().tasks.running;

/** Runs for this many minutes. Returns the number of running tasks after each minute. */
async function watch(own: Lab, minutes: number): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    await own.run(60, own.ports(), IS_FULL ? 10 : 20);
    seen.push(running(own));
  }
  return seen;
}

function expectNothingLost({ world }: Lab): void {
  expect(world.coderd.jobs().every(({ status }) => status === 'succeeded')).toBe(true);
  expect(world.figures().killed).toBe(0);
}

describe('a pinned pool', () => {
  it.each([
    { from: 'nothing', builds: 0, seed: 1 },
    { from: 'less', builds: 2, seed: 2 },
    { from: 'more', builds: 8, seed: 3 },
  ])('reaches its count and keeps it until the pin expires, from $from', async ({ builds, seed }) => {
    const own = await aLab({}, seed);
    submit(own, builds, (index) => 2 + index);
    await own.run(180);
    override(own, 'pin', 45, 4);
    await watch(own, 15);
    // more work than four daemons can do at once
    submit(own, 10, (index) => 1 + (index % 4));
    const pinned = await watch(own, 25);
    expect(new Set(pinned)).toEqual(new Set([4]));
    await watch(own, 20);
    expect(desired(own)).toBe(0);
    expectNothingLost(own);
  });
});

it('kills no build when a pin is below the number of running builds', async () => {
  const own = await aLab();
  submit(own, 6, (index) => 10 + index);
  await own.run(240);
  override(own, 'pin', 60, 0);
  await watch(own, 25);
  expect(desired(own)).toBe(0);
  expectNothingLost(own);
});

it('keeps the count of a paused pool and resumes when the pause expires', async () => {
  const own = await aLab({ min: 2 });
  await watch(own, 5);
  override(own, 'pause', 30);
  submit(own, 6, () => 2);
  expect(new Set(await watch(own, 20))).toEqual(new Set([2]));
  expectNothingLost(own);
  override(own, 'pause', 26);
  submit(own, 4, () => 5);
  await watch(own, 3);
  expect(running(own)).toBe(4);
  await watch(own, 17);
  expect(desired(own)).toBe(2);
  expectNothingLost(own);
});

it('scales out and drains nothing while scale-in is paused', async () => {
  const own = await aLab();
  override(own, 'pause-scale-in', 30);
  submit(own, 3, () => 1);
  await watch(own, 20);
  submit(own, 5, () => 1);
  await watch(own, 8);
  expect(running(own)).toBe(5);
  await watch(own, 15);
  expect(desired(own)).toBe(0);
  expectNothingLost(own);
});

describe('a transition that is due while its pool is paused or pinned', () => {
  it.each([
    { kind: 'pause', count: undefined, command: 'resume' },
    { kind: 'pin', count: 0, command: 'unpin' },
  ] as const)('waits and is reported: $kind', async ({ kind, count, command }) => {
    const own = await aLab({ idleTimeout: '60s' });
    const { coderd } = own.world;
    const template = coderd.addTemplate({ organization: 'default' });
    const since = plusMs(START, -60 * MINUTE_MS);
    for (const minutes of [10, 15])
      coderd.workspaces.add({ template, running: true, since, ttlMs: (60 + minutes) * MINUTE_MS });
    override(own, kind, 600, count);
    const quiet = await own.invoke(6);
    expect(quiet.flatMap(({ plan }) => plan.findings)).toEqual([]);
    const looks = await own.invoke(30);
    const last = looks.slice(-1).map((look) => lookEvent({ result: look, calls: {}, durationMs: 0 }));
    expect(last.map(({ findings }) => findings)).toEqual([
      [
        expect.stringContaining(
          `2 autostops from 2 March 2026 09:10:00 UTC on wait because pool "cpu" is ${kind === 'pause' ? 'paused' : 'pinned at 0 tasks'} until`,
        ),
      ],
    ]);
    expect(last.flatMap(({ findings }) => findings).join()).toContain(`\`autoscaler ${command} cpu\``);
    expect(coderd.jobs()).toEqual([]);
    takeAway(own, kind);
    const after = await own.invoke(20);
    expect(coderd.workspaces.all().map(({ latestBuild }) => latestBuild.reason)).toEqual([
      'autostop',
      'autostop',
    ]);
    expect(after.at(-1)?.plan.findings).toEqual([]);
    expect(desired(own)).toBe(0);
    expectNothingLost(own);
  });
});

it('reports a malformed override and holds only scale-in', async () => {
  const own = await aLab();
  tag(own, { 'coder-autoscaler:pin': '3', 'coder-autoscaler:pin-until': 'tomorrow' });
  submit(own, 2, () => 1);
  const looks = await own.run(600);
  for (const { plan } of looks)
    expect(plan.findings).toContainEqual(
      expect.objectContaining({ code: 'override-malformed', pool: 'cpu' }),
    );
  expectNothingLost(own);
  expect(running(own)).toBe(2);
  override(own, 'pin', 15, 1);
  await watch(own, 5);
  expect(running(own)).toBe(1);
});
