import { expect, it } from 'vitest';
import { isoTime, plusMs, type ServiceArn } from '../../lambda/decision/model/brands.ts';
import { tagsOfOverride } from '../../lambda/decision/settings/overrides.ts';
import { DesiredCounts } from '../../lambda/look/desired-counts.ts';
import { MINUTE, NOW } from '../support/parts.ts';

const serviceArn = 'arn:cpu' as ServiceArn;
const seen = (desiredCount: number, runningCount = 0, updatedAt?: number) => ({
  serviceArn,
  serviceName: 'cpu',
  status: 'ACTIVE',
  desiredCount,
  runningCount,
  pendingCount: 0,
  deployments: updatedAt === undefined ? [] : [{ updatedAt: plusMs(NOW, updatedAt) }],
  tags: [],
});

type Row = {
  readonly events: string;
  readonly expected: readonly (number | undefined)[];
  readonly because: string;
};

/**
 * In `events`, `3` is a look that reads 3, `3@7` one that ECS has updated at 7, `3?` one before which another
 * process may have looked, and `=5` is a write of 5.
 */
it.each<Row>([
  { events: '3', expected: [undefined], because: 'a new process knows no count' },
  { events: '3 4', expected: [undefined, 3], because: 'this process did not set 4' },
  { events: '3 4 4', expected: [undefined, 3, undefined], because: 'a change is reported once' },
  { events: '3 =5 5', expected: [undefined, undefined], because: 'this process set 5' },
  { events: '3 =5 3 5', expected: [undefined, undefined, undefined], because: 'ECS shows a write late' },
  { events: '3 =5 3 =6 5 6', expected: Array(4).fill(undefined), because: 'ECS shows two writes late' },
  { events: '3 =5 =6 =5 6 5', expected: Array(3).fill(undefined), because: 'this process set each of them' },
  { events: '3 =5 7', expected: [undefined, 5], because: '7 is neither the seen nor the set count' },
  {
    events: '3 =5 5 3',
    expected: [undefined, undefined, 5],
    because: 'someone else reverted a write that was seen',
  },
  {
    events: '3 =5 =6 =5 5 6',
    expected: [undefined, undefined, 5],
    because: 'someone else set 6 after its newest write was seen',
  },
  { events: '3@1 =5 5@2 3@1 5@2', expected: Array(4).fill(undefined), because: 'ECS shows an older state' },
  { events: '3@1 =5 5@2 3@3', expected: [undefined, undefined, 5], because: 'someone else reverted a write' },
  { events: '3 =3 5', expected: [undefined, 3], because: 'a write of the same count changes nothing' },
  { events: '3 4? 6', expected: [undefined, undefined, 4], because: 'another process may have set 4' },
  {
    events: '3 =5 6? 5',
    expected: [undefined, undefined, 6],
    because: 'what another process may have set replaces its own count',
  },
  { events: '=5 7', expected: [undefined], because: 'a process that never saw a count cannot compare' },
])('reports changes from $expected for the events $events: $because', ({ events, expected }) => {
  const counts = new DesiredCounts();
  const changes = events.split(' ').flatMap((word) => {
    const [count = 0, updatedAt] = word.replace('?', '').split('@').map(Number);
    const look = { now: NOW, isSole: !word.endsWith('?') };
    if (!word.startsWith('=')) return [{ from: counts.compare(seen(count, 0, updatedAt), look).changedFrom }];
    counts.willSet(serviceArn, Number(word.slice(1)));
    return [];
  });
  expect(changes.map(({ from }) => from)).toEqual(expected);
});

/** The tags of a service whose pool is paused for some minutes. */
function pausedFor(minutes: number) {
  const until = isoTime(plusMs(NOW, minutes * MINUTE));
  const tags = tagsOfOverride({ kind: 'pause', until, by: 'ann', why: 'trial' });
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}

/** In `looks`, `2/1@3` is a look in minute 3 that reads a count of 2 and 1 task. */
function lookAt(looks: string) {
  const counts = new DesiredCounts();
  return looks
    .split(' ')
    .map((look) => look.split(/[/@]/).map(Number))
    .map(([desired = 0, tasks = 0, minute = 0]) =>
      counts.compare(seen(desired, tasks), { now: plusMs(NOW, minute * MINUTE), isSole: true }),
    )
    .at(-1);
}

it.each([
  { looks: '2/0@0', minutes: 0, because: 'a new process has just seen it' },
  { looks: '2/0@0 2/0@1 4/0@2', minutes: 2, because: 'a higher count does not begin anew' },
  { looks: '2/2@0 1/1@1', minutes: undefined, because: 'nothing is missing' },
  { looks: '3/0@0 3/1@1', minutes: 0, because: 'ECS has created a task' },
  { looks: '3/0@0 3/0@1 3/3@2', minutes: undefined, because: 'ECS has created all tasks' },
  { looks: '3/0@0 3/0@1 0/0@2 0/0@3', minutes: 1, because: 'a lower count creates no task' },
  { looks: '3/0@0 3/0@1 0/0@2 1/0@60 1/0@61', minutes: 2, because: 'the time between does not count' },
  { looks: '3/0@0 3/0@1 0/0@1.5 1/0@2', minutes: 1, because: 'nothing was missing in between' },
  { looks: '3/0@0 3/0@1 3/0@21 3/0@22', minutes: 2, because: 'nobody of this process looked for 20 minutes' },
  { looks: '3/0@0 3/0@1 0/0@2 1/0@62', minutes: 0, because: 'it is forgotten after an hour' },
])('tasks are missing for $minutes minutes after $looks: $because', ({ looks, minutes }) => {
  expect(lookAt(looks)?.shortage?.lastedMs).toBe(minutes === undefined ? undefined : minutes * MINUTE);
});

it.each([
  { looks: '1/1@0 4/1@1 2/1@2', at: [1, 2], because: 'this process set neither' },
  { looks: '1/1@0 4/1@2', at: undefined, because: 'another process may have looked in between' },
  { looks: '1/1@0 4/1@1 4/1@60 4/1@62', at: undefined, because: 'it is forgotten after an hour' },
])('others changed the count in the minutes $at of $looks: $because', ({ looks, at }) => {
  const expected = at?.map((minute) => plusMs(NOW, minute * MINUTE));
  expect(lookAt(looks)?.changesByOthers).toEqual(expected);
});

it('tells when the service changed last if the first look of the process saw tasks missing', () => {
  const sight = { now: NOW, isSole: false };
  expect(new DesiredCounts().compare(seen(2, 0, -60_000), sight).shortage?.changedAt).toBe(NOW - 60_000);
  const counts = new DesiredCounts();
  counts.compare(seen(2, 2, -60_000), sight);
  expect(counts.compare(seen(4, 2, -1_000), sight).shortage).toEqual({ lastedMs: 0, until: NOW });
});

it('sees a change by others after a list that was older than the last one', () => {
  const counts = new DesiredCounts();
  const look = (second: number, service: ReturnType<typeof seen>) =>
    counts.compare(service, { now: plusMs(NOW, second * 1000), isSole: true });
  look(0, seen(3, 0, 2));
  look(60, seen(2, 0, 1));
  expect(look(120, seen(4, 0, 3)).changedFrom).toBe(3);
});

it('leaves out what others change while a pause of the pool lasts', () => {
  const counts = new DesiredCounts();
  const tags = pausedFor(2.5);
  const froms = [0, 1, 2, 3].map((minute, at) => {
    const { changedFrom, changesByOthers } = counts.compare(
      { ...seen(at), tags },
      { now: plusMs(NOW, minute * MINUTE), isSole: true },
    );
    return [changedFrom, changesByOthers?.length];
  });
  expect(froms).toEqual([[], [], [], [2, 1]].map(([from, count]) => [from, count]));
});

it.each([
  { events: '5 =8! 5', expected: 8, because: 'the list lags behind a confirmed write' },
  { events: '5 =8 5', expected: 5, because: 'nothing confirms the write' },
  { events: '5 =6! 5 =8! 6', expected: 8, because: 'the list shows an earlier write' },
  { events: '5 =8! 7', expected: 7, because: 'somebody else set 7' },
  { events: '5 =8! 8 5', expected: 5, because: 'the list has shown the write: somebody else set 5' },
  { events: '5 =8! 5?', expected: 5, because: 'another process may have set 5' },
  { events: '5 =8! 5+31', expected: 5, because: 'no list lags for so long: somebody else set 5' },
  { events: '5@1 =8! 8@2 5@1', expected: 8, because: 'the list is older than one that was seen' },
])('takes $expected for the count after $events: $because', ({ events, expected }) => {
  const counts = new DesiredCounts();
  let last: number | undefined;
  for (const word of events.split(' ')) {
    const [, text = '', updatedAt, later = '0'] = /^=?(\d+)(?:@(\d+))?[!?]?(?:\+(\d+))?$/.exec(word) ?? [];
    const count = Number(text);
    if (!word.startsWith('=')) {
      const look = { now: plusMs(NOW, Number(later) * 1000), isSole: !word.endsWith('?') };
      const at = updatedAt === undefined ? undefined : Number(updatedAt);
      last = counts.compare(seen(count, 0, at), look).desiredCount;
      continue;
    }
    counts.willSet(serviceArn, count);
    if (word.endsWith('!')) counts.didSet(serviceArn, count);
  }
  expect(last).toBe(expected);
});

it('takes the count of a paused pool from the list, although the list may lag behind', () => {
  const counts = new DesiredCounts();
  const look = { now: NOW, isSole: true };
  counts.compare({ ...seen(5), tags: pausedFor(9) }, look);
  counts.willSet(serviceArn, 8);
  counts.didSet(serviceArn, 8);
  expect(counts.compare({ ...seen(5), tags: pausedFor(9) }, look).desiredCount).toBe(5);
});
