/** When a process reads and writes its record of builds. */
import { expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../../lambda/decision/model/brands.ts';
import { HOUR_MS as HOUR } from '../../../lambda/decision/model/units.ts';
import type { RecordStore, StockRecord } from '../../../lambda/look/stock/kept-record.ts';
import { KeptRecord, MOST_BUILDS, withNewestBuilds } from '../../../lambda/look/stock/kept-record.ts';
import { MINUTE, NOW } from '../../support/parts.ts';

const known = (upTo: number): StockRecord => ({
  organizations: [{ id: 'data' as OrganizationId, upTo, logs: [] }],
  choices: [],
});
const NOTHING = known(0);
/** What a process has learned since. */
const MORE: StockRecord = {
  ...NOTHING,
  choices: [{ pools: [] } as unknown as StockRecord['choices'][number]],
};

/** A process with a store that notes its requests, and a clock that the test sets. */
function start({
  store = {},
  saved = () => NOTHING,
}: {
  store?: Partial<RecordStore>;
  saved?: () => StockRecord;
} = {}) {
  const requests: string[] = [];
  const failures: string[] = [];
  const loaded: StockRecord[] = [];
  const slept = Promise.withResolvers<void>();
  const waits: number[] = [];
  const clock = { at: NOW as number };
  const kept = new KeptRecord({
    learner: { save: saved, load: (record) => loaded.push(record) },
    store: {
      read: () => {
        requests.push('read');
        return store.read?.() ?? Promise.resolve(NOTHING);
      },
      write: (record) => {
        requests.push('write');
        return store.write?.(record) ?? Promise.resolve();
      },
    },
    clock: {
      now: () => clock.at as EpochMs,
      sleep: (ms) => {
        waits.push(ms);
        return slept.promise;
      },
    },
    onFailure: (message) => failures.push(message),
  });
  const look = async (isSole: boolean): Promise<void> => {
    await kept.ready(isSole);
    kept.restore(clock.at as EpochMs);
    await kept.save();
  };
  /** A look at this many minutes after the start. */
  const lookAt = (minutes: number, isSole = true): Promise<void> => {
    clock.at = NOW + minutes * MINUTE;
    return look(isSole);
  };
  return { requests, failures, loaded, waits, kept, lookAt, endWait: slept.resolve };
}

const refuses = () => Promise.reject(new Error('no route'));

it('reads the record once, and gives it to the learner once', async () => {
  const { requests, loaded, lookAt } = start();
  for (const minutes of [0, 1, 2]) await lookAt(minutes);
  expect(requests).toEqual(['read']);
  expect(loaded).toEqual([NOTHING]);
});

it('reads the record again after five minutes if another process may have written it', async () => {
  const { requests, loaded, lookAt } = start();
  for (const minutes of [0, 4, 5, 6, 10]) await lookAt(minutes, minutes === 0);
  expect(requests).toEqual(['read', 'read', 'read']);
  expect(loaded).toHaveLength(3);
});

it('looks without the record when the store is slow, and gives it to the learner at a later look', async () => {
  const answer = Promise.withResolvers<StockRecord>();
  const { requests, loaded, waits, lookAt, endWait } = start({ store: { read: () => answer.promise } });
  const first = lookAt(0);
  endWait();
  await first;
  // a later look does not wait
  await lookAt(1);
  expect(waits).toEqual([1_000]);
  expect(loaded).toEqual([]);
  answer.resolve(NOTHING);
  await answer.promise;
  await lookAt(2);
  expect(loaded).toEqual([NOTHING]);
  expect(requests).toEqual(['read']);
});

it('saves nothing while its first read is slow, whatever it has learned: the record may have more', async () => {
  const answer = Promise.withResolvers<StockRecord>();
  const { requests, lookAt, endWait } = start({ store: { read: () => answer.promise }, saved: () => MORE });
  endWait();
  for (const minutes of [0, 1, 2, 30]) await lookAt(minutes);
  expect(requests).toEqual(['read']);
  answer.resolve(known(1));
  await answer.promise;
  await lookAt(31);
  expect(requests).toEqual(['read', 'write']);
});

it('does not replace a record that came too late for this look', async () => {
  const answer = Promise.withResolvers<StockRecord>();
  const { requests, loaded, kept, lookAt, endWait } = start({
    store: { read: () => answer.promise },
    saved: () => MORE,
  });
  endWait();
  await kept.ready();
  kept.restore(NOW);
  answer.resolve(known(1));
  await answer.promise;
  await Promise.resolve();
  await kept.save();
  expect(requests).toEqual(['read']);
  await lookAt(1);
  expect(loaded).toEqual([known(1)]);
  expect(requests).toEqual(['read', 'write']);
});

it('writes what has changed at once, but at most once a minute', async () => {
  let saved = NOTHING;
  const { requests, lookAt } = start({ saved: () => saved });
  for (const minutes of [0, 0.1]) await lookAt(minutes);
  expect(requests).toEqual(['read']);
  saved = MORE;
  for (const minutes of [0.2, 0.3, 5]) await lookAt(minutes);
  expect(requests).toEqual(['read', 'write']);
  saved = NOTHING;
  await lookAt(6);
  saved = MORE;
  await lookAt(6.9);
  expect(requests).toEqual(['read', 'write', 'write']);
  await lookAt(7);
  expect(requests).toEqual(['read', 'write', 'write', 'write']);
});

it('writes at its first look what is not in the record: it may live for less than a minute', async () => {
  const { requests, lookAt } = start({ saved: () => MORE });
  await lookAt(0);
  expect(requests).toEqual(['read', 'write']);
});

it('does not write because time passes', async () => {
  let upTo = 0;
  const { requests, lookAt } = start({ saved: () => known(upTo++) });
  for (const minutes of [0, 5, 10, 15]) await lookAt(minutes);
  expect(requests).toEqual(['read']);
});

it('never replaces a record that it could not read, and tries again after an hour', async () => {
  let read = refuses as RecordStore['read'];
  const { requests, failures, waits, lookAt } = start({ store: { read: () => read() }, saved: () => MORE });
  for (const minutes of [0, 1, 30, 59.9]) await lookAt(minutes);
  expect(requests).toEqual(['read']);
  expect(failures).toEqual(['no route']);
  await lookAt(60);
  expect(waits).toEqual([1_000]);
  expect(requests).toEqual(['read', 'read']);
  read = async () => NOTHING;
  await lookAt(121);
  expect(requests).toEqual(['read', 'read', 'read', 'write']);
  expect(failures).toEqual(['no route', 'no route']);
});

it('reports a failed write once an hour, and writes then', async () => {
  let isUp = false;
  const { requests, failures, lookAt } = start({
    store: { write: async () => (isUp ? undefined : refuses()) },
    saved: () => MORE,
  });
  for (const minutes of [0, 5, 10, 59]) await lookAt(minutes);
  expect(requests).toEqual(['read', 'write']);
  expect(failures).toEqual(['no route']);
  isUp = true;
  await lookAt(66);
  expect(requests).toEqual(['read', 'write', 'write']);
  expect(failures).toHaveLength(1);
});

it('goes on when its clock steps back', async () => {
  let saved = MORE;
  const { requests, lookAt } = start({ saved: () => saved });
  await lookAt(0);
  saved = NOTHING;
  await lookAt(-2 * (HOUR / MINUTE));
  expect(requests).toEqual(['read', 'write', 'write']);
});

it('writes every six hours when the pools of a rule were seen, though nothing else is new', async () => {
  let hours = 0;
  const seenAt = () => (hours * HOUR) as EpochMs;
  const saved = (): StockRecord => {
    const choice = { pools: [], seenAt: seenAt() } as unknown as StockRecord['choices'][number];
    return { ...NOTHING, choices: [choice] };
  };
  const { requests, lookAt } = start({ saved });
  for (hours of [0, 5, 6, 11, 12]) await lookAt(hours * 60);
  expect(requests).toEqual(['read', 'write', 'write', 'write']);
});

it('keeps the newest builds, and as many of each tag set as are asked for', () => {
  const builds = (count: number, first: number) =>
    Array.from({ length: count }, (_, index) => ({ at: first + index, tookMs: 1 }));
  const logs = [
    { tags: { scope: 'organization', owner: '' }, builds: builds(MOST_BUILDS + 3, 100) },
    { tags: { scope: 'organization', owner: '', size: 'big' }, builds: builds(4, 0) },
  ];
  const record: StockRecord = {
    ...NOTHING,
    organizations: [{ id: 'data' as OrganizationId, upTo: 0, logs }],
  };
  const kept = (ofEach?: number) =>
    withNewestBuilds(record, ofEach).flatMap(({ logs }) => logs.map(({ builds: { length } }) => length));
  expect(kept()).toEqual([MOST_BUILDS, 0]);
  expect(kept(2)).toEqual([MOST_BUILDS, 2]);
});

it('awaits the record until the store has answered, and the answer has come into effect', async () => {
  const answer = Promise.withResolvers<StockRecord>();
  const { kept, lookAt, endWait } = start({ store: { read: () => answer.promise } });
  expect(kept.isAwaited).toBe(true);
  endWait();
  await lookAt(0);
  expect(kept.isAwaited).toBe(true);
  answer.resolve(NOTHING);
  await new Promise(setImmediate);
  expect(kept.isAwaited).toBe(true);
  kept.restore(NOW);
  expect(kept.isAwaited).toBe(false);
});

it('awaits no record that cannot be read', async () => {
  const { kept, lookAt } = start({ store: { read: refuses } });
  await lookAt(0);
  expect(kept.isAwaited).toBe(false);
});
