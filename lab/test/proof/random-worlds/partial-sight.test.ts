/** The faults of what looks see, each alone in a world with two pools. */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../lambda/decision/model/units.ts';
import { ageHeartbeats, failLists, hideService } from '../../../proof/random-worlds/events/partial-sight.ts';
import { Fleet } from '../../../proof/random-worlds/world/fleet.ts';
import { seeded } from '../../../proof/random-worlds/world/plan.ts';
import { planOf } from '../../../proof/random-worlds/world/quiet.ts';
import { WorldEvents } from '../../../proof/random-worlds/world/world-events.ts';
import { World } from '../../../world/world.ts';

const POOL = { organization: 'default', min: 0, max: 2, warm: 0, idleTimeoutS: 60, desiredCount: 0 };
const POOLS = [
  { ...POOL, name: 'cpu', tags: {}, image: 'guarded', retiring: false },
  { ...POOL, name: 'gpu', tags: { gpu: '1' }, image: 'guarded', retiring: false },
] as const;

function aWorld(hasWholeSight: boolean) {
  const plan = { ...planOf(1, true), pools: [...POOLS], hasWholeSight };
  const world = new World({ ...plan.world, readLagMs: 0, latencies: {}, pools: POOLS });
  const events = new WorldEvents({ world, plan, fleet: new Fleet(world, POOLS), print: () => {} });
  const pass = (ms: number): void => world.timeline.advanceTo(plusMs(world.timeline.now(), ms));
  return { world, events, pass };
}

type Made = ReturnType<typeof aWorld>;

/** Everything that looks may not see now, in one text. */
function unseenIn({ world: { ecs, coderd } }: Made): string {
  const lists = [ecs.unlisted, ecs.unreadable, ecs.failing, coderd.failing];
  const { name } = ecs.services()[0]?.identity ?? { name: '' };
  const age = coderd.heartbeatAgeMs('daemon' as never);
  const ages = [age === 0 ? [] : `heartbeat ${age}`, coderd.dateAheadMs() === 0 ? [] : 'date'].flat();
  return [...lists.flatMap((list) => [...list]).map((it) => (it === name ? 'service' : it)), ...ages].join(
    ' ',
  );
}

const KINDS = [
  { fault: hideService, expected: ['service'] },
  {
    fault: failLists,
    expected: [
      'DescribeServices',
      'DescribeTasks',
      'ListTasks',
      'ListTasks provisionerdaemons',
      'provisionerdaemons',
    ],
  },
  { fault: ageHeartbeats, expected: ['date', 'heartbeat 30-60 s', 'heartbeat undefined'] },
] as const;

/** What looks may not see at some time of two hours, in 60 worlds. */
function seenIn(fault: (typeof KINDS)[number]['fault'], hasWholeSight = false): readonly string[] {
  const unseen = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const made = aWorld(hasWholeSight);
    fault(made.events, seeded(seed), 'cpu');
    for (let ms = 0; ms < 2 * HOUR_MS; ms += MINUTE_MS / 4) {
      unseen.add(unseenIn(made).replace(/heartbeat [3-6]\d000/, 'heartbeat 30-60 s'));
      made.pass(MINUTE_MS / 4);
    }
    expect(unseenIn(made)).toBe('');
    expect(made.world.keyId('cpu')).toBeDefined();
    expect(made.world.service('cpu').startFailure).toBeUndefined();
  }
  unseen.delete('');
  return [...unseen].sort();
}

describe.each(KINDS)('$fault.name', ({ fault, expected }) => {
  it('takes each of its kinds from the sight of looks, for a time', () => {
    expect(seenIn(fault)).toEqual(expected);
  });

  it('takes nothing in the twin of a world', () => {
    expect(seenIn(fault, true)).toEqual([]);
  });
});

describe('the end of all events', () => {
  it.each(KINDS)('ends $fault.name', ({ fault }) => {
    const made = aWorld(false);
    for (let seed = 0; seed < 20; seed++) fault(made.events, seeded(seed), 'cpu');
    made.pass(5 * MINUTE_MS);
    made.events.end();
    expect(unseenIn(made)).toBe('');
    made.pass(2 * HOUR_MS);
    expect(unseenIn(made)).toBe('');
  });
});

it('starts of a pool fail for one cause or none while lists fail', () => {
  const causes = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const { world, events, pass } = aWorld(false);
    failLists(events, seeded(seed), 'cpu');
    pass(MINUTE_MS);
    const isKeyGone = world.keyId('cpu') === undefined;
    causes.add(`${isKeyGone ? 'no key' : 'a key'}, ${world.service('cpu').startFailure ?? 'starts'}`);
    expect(world.keyId('gpu')).toBeDefined();
  }
  expect([...causes].sort()).toEqual([
    'a key, CannotPullContainerError: pull image manifest has been retried 7 time(s)',
    'a key, starts',
    'no key, starts',
  ]);
});
