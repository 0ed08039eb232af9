import { describe, expect, it } from 'vitest';
import { type OrganizationId, plusMs, type TaskArn } from '../../lambda/decision/model/brands.ts';
import { SECOND_MS } from '../../lambda/decision/model/units.ts';
import { LookMemory } from '../../lambda/look/look-memory.ts';
import { NOW } from '../support/parts.ts';

const at = (seconds: number) => plusMs(NOW, seconds * SECOND_MS);
const task = 'arn:task' as TaskArn;
const refused = [{ task }];

describe('what a process remembers of its looks', () => {
  it.each([
    { seen: [0], now: 10, since: 0, because: 'the last look saw it' },
    { seen: [0, 10, 20], now: 30, since: 0, because: 'every look has seen it since then' },
    { seen: [0], missed: 10, now: 20, since: undefined, because: 'a look did not see it' },
    { seen: [0], now: 200, since: undefined, because: 'the last look is long ago' },
  ])('a mismatch that looks see at $seen lasts since $since: $because', ({ seen, missed, now, since }) => {
    const memory = new LookMemory();
    for (const second of seen) memory.add({ now: at(second), mismatches: ['a'], refused: [], pools: [] });
    if (missed !== undefined) memory.add({ now: at(missed), mismatches: [], refused: [], pools: [] });
    expect(memory.recall(at(now)).mismatches).toEqual(since === undefined ? {} : { a: at(since) });
  });

  it('heartbeats as the last look saw them', () => {
    const memory = new LookMemory();
    const heartbeats = [{ organizationId: 'org' as OrganizationId, oldAt: NOW }];
    memory.add({ now: at(0), mismatches: [], refused: [], pools: [], heartbeats });
    expect(memory.recall(at(900)).heartbeats).toEqual(heartbeats);
    memory.add({ now: at(910), mismatches: [], refused: [], pools: [] });
    expect(memory.recall(at(910)).heartbeats).toEqual([]);
  });

  it.each([
    { refusals: [0], from: 60, because: 'a minute has passed' },
    { refusals: [0, 60], from: 180, because: 'the pause has doubled' },
    { refusals: [0, 60, 180, 420, 900, 1500], from: 2100, because: 'a pause is ten minutes at most' },
  ])('a request that ECS refuses at $refusals is made again at $from: $because', ({ refusals, from }) => {
    const memory = new LookMemory();
    for (const second of refusals) memory.add({ now: at(second), mismatches: [], refused, pools: [] });
    expect(memory.recall(at(from - 1)).refused).toEqual([task]);
    expect(memory.recall(at(from)).refused).toEqual([]);
  });

  it('a refused request pauses on while later looks refuse others', () => {
    const memory = new LookMemory();
    const other = 'arn:other' as TaskArn;
    memory.add({ now: at(0), mismatches: [], refused, pools: [] });
    memory.add({ now: at(10), mismatches: [], refused: [{ task: other }], pools: [] });
    expect(memory.recall(at(20)).refused).toEqual([task, other]);
  });

  it('a refusal of an hour ago makes no pause longer', () => {
    const memory = new LookMemory();
    memory.add({ now: at(0), mismatches: [], refused, pools: [] });
    memory.add({ now: at(3_600), mismatches: [], refused: [], pools: [] });
    memory.add({ now: at(3_610), mismatches: [], refused, pools: [] });
    expect(memory.recall(at(3_669)).refused).toEqual([task]);
    expect(memory.recall(at(3_670)).refused).toEqual([]);
  });

  it.each([
    { wake: { second: 60, isOwn: undefined }, isSole: true, because: 'the schedule starts the next look' },
    {
      wake: { second: 120, isOwn: undefined },
      isSole: false,
      because: 'the schedule has started another process',
    },
    { wake: { second: 10, isOwn: true }, isSole: true, because: 'its own message is the only one' },
    { wake: { second: 10, isOwn: false }, isSole: false, because: 'the sender of the message has looked' },
  ])(
    'after $wake.second s with its own message $wake.isOwn it is alone: $isSole, because $because',
    ({ wake, isSole }) => {
      const memory = new LookMemory();
      expect(memory.isSole).toBe(false);
      memory.add({ now: at(0), mismatches: [], refused: [], pools: [] });
      memory.rest(at(60));
      memory.wake({ now: at(wake.second), isOwn: wake.isOwn });
      expect(memory.isSole).toBe(isSole);
    },
  );

  it('is alone within an invocation, and does not know after one that did not rest', () => {
    const memory = new LookMemory();
    memory.rest(at(60));
    memory.wake({ now: at(60), isOwn: undefined });
    memory.wake({ now: at(61), isOwn: undefined });
    expect(memory.isSole).toBe(false);
    memory.add({ now: at(62), mismatches: [], refused: [], pools: [] });
    expect(memory.isSole).toBe(true);
  });

  it('does not know what happened after a message that it sent', () => {
    const memory = new LookMemory();
    memory.add({ now: at(0), mismatches: [], refused: [], pools: [] });
    memory.wake({ now: at(20), isOwn: undefined });
    expect(memory.isSole).toBe(false);
  });
});
