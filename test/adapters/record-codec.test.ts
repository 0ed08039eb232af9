import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRecord,
  encodeRecord,
  isNewerRecord,
  MOST_CHARACTERS,
} from '../../lambda/adapters/parameters/record-parameter.ts';
import type { OrganizationId, PoolName } from '../../lambda/decision/model/brands.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { MOST_BUILDS, type StockRecord } from '../../lambda/look/stock/kept-record.ts';
import { NOW } from '../support/parts.ts';
import { runs } from '../support/runs.ts';

const HOUR_S = 3600;
const WEEK_S = 7 * 24 * HOUR_S;
/** Organizations have ids like this one. */
const organizationId = '5f7d3f4e-95a3-4cbb-9f70-3a1f4c2e9b10' as OrganizationId;

const choice: StockRecord['choices'][number] = {
  ...{ organizationId, pools: ['cpu' as PoolName], builds: 31, hours: 40 },
  rule: { free: 2, spareMs: 300_000, afterBuildMs: null, countsBusy: true },
  ...{ tasks: 0.125, waiting: 0.25, others: [{ free: 1, dollars: 0.5 }], startMs: 42_000 },
};

type Logs = StockRecord['organizations'][number]['logs'];

const recordWith = (logs: Logs): StockRecord => ({
  organizations: [{ id: organizationId, upTo: NOW, logs }],
  choices: [choice],
});

/** `agesS`: the builds' ages in seconds, by the value of the tag `team`. */
function recordOf(agesS: Readonly<Record<string, readonly number[]>>, tookS = 60): StockRecord {
  const logs = Object.entries(agesS).map(([team, ages]) => ({
    tags: normalizeTags({ team }),
    builds: ages.toSorted((a, b) => b - a).map((age) => ({ at: NOW - age * 1000, tookMs: tookS * 1000 })),
  }));
  return recordWith(logs);
}

const aRecord = fc
  .record({
    upTo: fc.integer({ min: NOW, max: NOW + 999 }),
    logs: fc.dictionary(
      fc.stringMatching(/^[a-z]{1,9}$/),
      fc.array(fc.tuple(fc.integer({ min: 0, max: WEEK_S }), fc.integer({ min: 1, max: 86_400 })), {
        minLength: 1,
        maxLength: 30,
      }),
      { minKeys: 1, maxKeys: 4 },
    ),
    choices: fc.constantFrom([], [choice]),
  })
  .map(
    ({ upTo, logs, choices }): StockRecord => ({
      organizations: [
        {
          ...{ id: organizationId, upTo },
          logs: Object.entries(logs).map(([team, builds]) => ({
            tags: normalizeTags({ team }),
            builds: builds
              .toSorted(([a], [b]) => b - a)
              .map(([age, took]) => ({ at: NOW - age * 1000, tookMs: took * 1000 })),
          })),
        },
      ],
      choices,
    }),
  );

const textOf = (json: unknown): string => deflateRawSync(JSON.stringify(json)).toString('base64');
const jsonOf = (text: string): unknown => JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString());
const logsIn = (record: StockRecord | undefined): Logs =>
  (record?.organizations ?? []).flatMap(({ logs }) => logs);
const agesIn = (record: StockRecord | undefined): Readonly<Record<string, readonly number[]>> =>
  Object.fromEntries(
    logsIn(record).map(({ tags, builds }) => [tags.team, builds.map(({ at }) => (NOW - at) / 1000)]),
  );

describe('the text of the record', () => {
  it('gives the record back, to the second', () => {
    fc.assert(
      fc.property(aRecord, (record) => {
        expect(decodeRecord(encodeRecord(record) ?? '')).toEqual(record);
      }),
      runs(1_000),
    );
  });

  it('rounds times down and durations to whole seconds', () => {
    const builds = [{ at: NOW - 1_500, tookMs: 1_499 }];
    const record = recordWith([{ tags: normalizeTags({}), builds }]);
    expect(logsIn(decodeRecord(encodeRecord(record) ?? ''))[0]?.builds).toEqual([
      { at: NOW - 2_000, tookMs: 1_000 },
    ]);
  });

  it('fits into an advanced parameter with 1,600 builds of a week and the choices of 10 pools', () => {
    let state = 1;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const builds = Array.from({ length: 1_600 }, () => ({
      at: NOW - Math.floor(random() * WEEK_S) * 1000,
      tookMs: Math.round(90 * Math.exp(2 * random() - 1)) * 1000,
    })).toSorted((a, b) => a.at - b.at);
    const choices = Array.from({ length: 10 }, (_, index) => ({
      ...choice,
      pools: [`pool-${index}` as PoolName],
    }));
    const record = { ...recordWith([{ tags: normalizeTags({}), builds }]), choices };
    const text = encodeRecord(record) ?? '';
    expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS);
    expect(decodeRecord(text)).toEqual(record);
  });

  it('leaves out the oldest builds of all tag sets if it does not fit', () => {
    const old = Array.from({ length: 400 }, (_, index) => 200_000 + index * 97 + ((index * 7919) % 89));
    const young = Array.from({ length: 400 }, (_, index) => 100_000 + index * 97 + ((index * 7919) % 89));
    const record = recordOf({ old, young, rare: [50_000] });
    const text = encodeRecord(record, 1_600) ?? '';
    expect(text.length).toBeLessThanOrEqual(1_600);
    const kept = agesIn(decodeRecord(text));
    expect(kept.rare).toEqual([50_000]);
    expect(kept.young?.length).toBeGreaterThan(200);
    const all = [...old, ...young, 50_000].toSorted((a, b) => a - b);
    const left: readonly number[] = Object.values(kept).flat();
    expect(left.toSorted((a, b) => a - b)).toEqual(all.slice(0, left.length));
  });

  it('keeps the newest builds of each of 50 tag sets of 100,000 builds', () => {
    const ages = Object.fromEntries(
      Array.from({ length: 50 }, (_, set) => [
        `set-${set}`,
        Array.from(
          { length: 2_000 },
          (_item, index) => 600 + 10_000 * set + index * 250 + ((index * 7919) % 89),
        ),
      ]),
    );
    const kept = agesIn(decodeRecord(encodeRecord(recordOf(ages)) ?? ''));
    expect(Object.keys(kept)).toHaveLength(50);
    expect(Math.min(...Object.values(kept).map((builds) => builds.length))).toBeGreaterThanOrEqual(5);
  });

  it('leaves out the choices last, and is not written if nothing fits', () => {
    const record = recordOf({ a: [60] });
    const long = {
      ...choice,
      pools: Array.from({ length: 500 }, (_, index) => `${index * 7919}` as PoolName),
    };
    const few = decodeRecord(encodeRecord({ ...record, choices: [long] }, 400) ?? '');
    expect(few).toEqual({ ...record, choices: [] });
    expect(encodeRecord(record, 20)).toBeUndefined();
  });

  it('keeps the choices of 200 pools in 100 organizations', () => {
    const choices = Array.from({ length: 200 }, (_, index) => ({
      ...choice,
      organizationId: createHash('md5')
        .update(`${index >> 1}`)
        .digest('hex') as OrganizationId,
      pools: [`pool-${index}` as PoolName],
      ...{ builds: (index * 7919) % 997, hours: ((index * 7919) % 335) / 2, startMs: 30_000 + index * 137 },
      ...{ tasks: ((index * 7919) % 991) / 991, waiting: ((index * 7919) % 983) / 983 },
      others: [{ free: 1, dollars: ((index * 7919) % 977) / 977 }],
    }));
    const kept = decodeRecord(encodeRecord({ ...recordOf({ a: [60, 90] }), choices }) ?? '')?.choices;
    const told = (all: StockRecord['choices'] = []) => all.map(({ pools, rule }) => ({ pools, rule }));
    expect(told(kept)).toEqual(told(choices));
  });

  it('keeps the choices that fit, and no more builds than a process reads', () => {
    const choices = Array.from({ length: 30 }, (_, index) => ({
      ...choice,
      pools: [`${index * 7919}` as PoolName],
    }));
    const kept = decodeRecord(encodeRecord({ ...recordOf({ a: [60] }), choices }, 400) ?? '')?.choices;
    expect(kept?.length).toBeGreaterThan(5);
    const alike = recordOf({ a: Array.from({ length: 50_000 }, (_, index) => index) });
    expect(logsIn(decodeRecord(encodeRecord(alike) ?? ''))[0]?.builds).toHaveLength(MOST_BUILDS);
  });

  it('contains tags, ids of organizations, names of pools and numbers, and nothing else', () => {
    const { organizations, choices } = recordOf({ data: [60, 30] });
    // fields that a later version might add to what it keeps
    const secret = { workspace_name: 'payroll', initiator_id: 'alice', token: 'hunter2' };
    const logs = logsIn({ organizations, choices }).map(({ tags, builds }) => ({
      ...{ tags, ...secret },
      builds: builds.map((build) => ({ ...build, ...secret })),
    }));
    const record = { choices, organizations: organizations.map((each) => ({ ...each, ...secret, logs })) };
    expect(jsonOf(encodeRecord(record) ?? '')).toEqual({
      version: 1,
      organizations: [
        {
          ...{ id: organizationId, upTo: NOW },
          logs: [{ tags: { scope: 'organization', owner: '', team: 'data' }, builds: [30, 60, 30, 60] }],
        },
      ],
      choices,
    });
  });
});

describe('a text that is no record', () => {
  it('is read without a throw, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        expect(decodeRecord(text)).toBeUndefined();
      }),
      runs(1_000),
    );
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(decodeRecord(textOf(JSON.parse(json)))).toBeUndefined();
      }),
      runs(1_000),
    );
  });

  it('is read without a throw after a part of it was cut off or changed', () => {
    const text = encodeRecord(recordOf({ a: [10, 20, 30], b: [40] })) ?? '';
    expect(decodeRecord(text.slice(0, text.length / 2))).toBeUndefined();
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), (from, other) => {
        expect(() => decodeRecord(text.slice(0, from))).not.toThrow();
        expect(() => decodeRecord(text.slice(0, from) + other + text.slice(from + 1))).not.toThrow();
      }),
      runs(1_000),
    );
  });

  it.each([
    { text: 'none', because: "the stack's first value" },
    { text: '', because: 'empty' },
    { text: textOf({ version: 2, organizations: [], choices: [] }), because: 'of a newer version' },
    {
      text: textOf({ version: 1, organizations: [{}], choices: [] }),
      because: 'with an organization of another form',
    },
    { text: deflateRawSync(' '.repeat(5_000_000)).toString('base64'), because: 'that unpacks to 5 MB' },
  ])('counts as nothing known: $because', ({ text }) => {
    expect(decodeRecord(text)).toBeUndefined();
  });

  it('leaves out a build that lost its duration', () => {
    const whole = recordOf({ a: [60] }, 30);
    const text = inflateRawSync(Buffer.from(encodeRecord(whole) ?? '', 'base64')).toString();
    const cut = text.replace('"builds":[60,30', '$&,5');
    expect(cut).not.toBe(text);
    expect(decodeRecord(deflateRawSync(cut).toString('base64'))).toEqual(whole);
  });

  it('is of a newer version only if its number says so', () => {
    const versionOf = (version: unknown): string => textOf({ version, organizations: [], choices: [] });
    expect([0, 1, 2, 3, '2', 1.5, null].map((version) => isNewerRecord(versionOf(version)))).toEqual([
      ...[false, false, true, true, false, false, false],
    ]);
    expect(['none', '', textOf([2])].map(isNewerRecord)).toEqual([false, false, false]);
    expect(isNewerRecord(encodeRecord(recordOf({ a: [60] })) ?? '')).toBe(false);
  });

  it('keeps the builds if only a choice has another form', () => {
    const json = jsonOf(encodeRecord(recordOf({ a: [60] })) ?? '') as object;
    const text = textOf({ ...json, choices: [{ rule: 'none' }, choice] });
    expect(decodeRecord(text)).toEqual(recordOf({ a: [60] }));
  });
});
