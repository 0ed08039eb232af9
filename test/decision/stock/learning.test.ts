/** The choice of a rule from replays, and what it follows from. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS as DAY, HOUR_MS as HOUR, MINUTE_MS as MINUTE } from '../../../lambda/decision/model/units.ts';
import { chooseRule, type RuleInReplay } from '../../../lambda/decision/stock/choose-rule.ts';
import { FadingSum, Learning } from '../../../lambda/decision/stock/learning.ts';
import type { ReplayedBuild, ReplayedPools } from '../../../lambda/decision/stock/replay.ts';
import { rulesFor, UNKNOWN_RULE } from '../../../lambda/decision/stock/replay.ts';
import { runs } from '../../support/runs.ts';

const DAY_SLOTS = 48;
/** A task of the default size, and $0.10 for a minute of waiting. */
const POOLS: ReplayedPools = {
  ...{ startMs: MINUTE, lookMs: 8_000, taskPrice: 0.0395 / HOUR, launchPrice: 0.002, startPrice: 0.003 },
  ...{ waitPrice: 0.1 / MINUTE, most: 3 },
};

describe('a fading sum', () => {
  const at = (slot: number): number => {
    const sum = new FadingSum();
    sum.add(0, 1);
    return sum.at(slot);
  };

  it.each([
    { slot: DAY_SLOTS, expected: 1.2 * Math.exp(-1 / 7), because: 'it is the same time of day' },
    { slot: 1.5 * DAY_SLOTS, expected: 0.2 * Math.exp(-1.5 / 7), because: 'it is the opposite time' },
    { slot: 7 * DAY_SLOTS, expected: 1.2 / Math.E, because: 'a week is over' },
    { slot: 4, expected: (0.2 + Math.exp(-0.5)) * Math.exp(-4 / 336), because: 'two hours are over' },
    {
      slot: DAY_SLOTS - 4,
      expected: (0.2 + Math.exp(-0.5)) * Math.exp(-44 / 336),
      because: 'it is two hours less',
    },
  ])('counts 1 as $expected after $slot half hours: $because', ({ slot, expected }) => {
    expect(at(slot)).toBeCloseTo(expected, 6);
  });

  it('adds up and stays finite over ten years', () => {
    const sum = new FadingSum();
    for (let slot = 0; slot < 3650 * DAY_SLOTS; slot++) sum.add(slot, 1);
    // the mean weight of a time of day, for as many half hours as fading leaves of an endless past
    const mean = 0.2 + (4 * Math.sqrt(2 * Math.PI)) / DAY_SLOTS;
    expect(sum.at(3650 * DAY_SLOTS) / (mean * 7 * DAY_SLOTS)).toBeCloseTo(1, 1);
  });
});

describe('a large fleet', () => {
  /** Of two days with such a batch of builds each 70 minutes. `dollars`: for a minute of waiting. */
  const learnedFrom = (sizes: readonly number[], dollars: number) => {
    const prices = { launchPrice: 0.0135, startPrice: 0.014, waitPrice: dollars / MINUTE };
    const learning = new Learning({ ...POOLS, ...prices, most: 100 }, 0);
    const everyMs = 70 * MINUTE;
    const builds = Array.from({ length: Math.floor((2 * DAY) / everyMs) }, (_, batch) =>
      Array.from({ length: sizes[batch % sizes.length] ?? 0 }, () => ({
        ...{ at: batch * everyMs, tookMs: 25_000 },
      })),
    ).flat();
    const buildsIn = (from: number, to: number) => builds.filter(({ at }) => at >= from && at < to);
    learning.learn(buildsIn, 2 * DAY, Number.POSITIVE_INFINITY);
    return learning.chosen.rule;
  };

  it('stands all day, its busy daemons counted, where short builds come in batches all day', () => {
    expect(learnedFrom([8, 7, 8, 8], 0.3)).toMatchObject({ free: 8, countsBusy: true });
  });

  it('has as many daemons as builds come at once, up to 80', () => {
    expect(learnedFrom([70], 1).free).toBe(80);
  });
});

describe('the choice', () => {
  const rules = rulesFor(3);
  const costing = (dollarsOf: (index: number) => number): readonly RuleInReplay[] =>
    rules.map((rule, index) => ({ rule, cost: { tasks: dollarsOf(index), waiting: 0 } }));
  const [, , before = UNKNOWN_RULE] = rules;
  const choose = (dollarsOf: (index: number) => number, hours = 1000) =>
    chooseRule(costing(dollarsOf), { hours, pools: POOLS, before });

  it('is the cheapest rule', () => {
    expect(choose((index) => (index === 40 ? 500 : 1000)).rule).toBe(rules[40]);
  });

  it.each([
    { share: 0.98, isChanged: false, because: 'less than 3 % cheaper' },
    { share: 0.96, isChanged: true, because: 'more than 3 % cheaper' },
  ])('changes to a rule that costs $share of the one in force: $isChanged, because it is $because', (row) => {
    const { rule } = choose((index) => (index === 40 ? 1000 * row.share : 1000));
    expect(rule === rules[40]).toBe(row.isChanged);
    expect(rule === before).toBe(!row.isChanged);
  });

  it.each([
    { dollars: 0.02, free: 0 },
    { dollars: 0.1, free: 1 },
    { dollars: 1, free: 1 },
  ])('keeps $free free without builds, by the guess alone, at $dollars a minute', ({ dollars, free }) => {
    const pools = { ...POOLS, waitPrice: dollars / MINUTE };
    const chosen = chooseRule(
      costing(() => 0),
      { hours: 0, pools, before },
    );
    expect(chosen).toMatchObject({ rule: { free }, cost: { tasks: 0, waiting: 0 } });
  });

  it('names the cost an hour of the next smaller and larger numbers', () => {
    const { cost, others } = choose((index) => (rules[index]?.free === 2 ? 500 : 1000 + index));
    expect(cost).toEqual({ tasks: 0.5, waiting: 0 });
    expect(others.map(({ free }) => free)).toEqual([1, 3]);
    for (const { dollars } of others) expect(dollars).toBeGreaterThanOrEqual(1);
  });
});

/** Builds that come every so many minutes in some hours of each day. */
function daily({ everyMs, fromH, toH, days }: { everyMs: number; fromH: number; toH: number; days: number }) {
  const builds: ReplayedBuild[] = [];
  for (let at = 0; at < days * DAY; at += everyMs) {
    const hour = (at % DAY) / HOUR;
    if (hour >= fromH && hour < toH) builds.push({ at, tookMs: MINUTE });
  }
  return builds;
}

const playing = (builds: readonly ReplayedBuild[]) => (from: number, to: number) =>
  builds.filter(({ at }) => at >= from && at < to);

function learned(builds: readonly ReplayedBuild[], until: number, pools = POOLS): Learning {
  const learning = new Learning(pools, builds[0]?.at ?? 0);
  learning.learn(playing(builds), until, Number.POSITIVE_INFINITY);
  return learning;
}

describe('the daemons that the rule would have', () => {
  /** Three at once in each 20 minutes, until four hours before midnight. */
  const times = Array.from(
    { length: 3 * 20 },
    (_, wave) => wave * 20 * MINUTE + ((wave * 7919) % 600) * 1000,
  );
  const waves = times.flatMap((from) =>
    [0, 5_000, 10_000].map((after) => ({ at: from + after, tookMs: MINUTE })),
  );

  it('are known once it has been in force for twice as long as they stay, and until the next choice', () => {
    const learning = new Learning(POOLS, 0);
    let inForceFrom = 0;
    const known: { readonly daemons: number; readonly longerMs: number }[] = [];
    for (let until = 10 * MINUTE; until < DAY; until += 10 * MINUTE) {
      const before = learning.chosen.rule;
      learning.learn(playing(waves), until, Number.POSITIVE_INFINITY);
      const { chosen, stays } = learning;
      const end = until + 10 * MINUTE;
      if (chosen.rule !== before) inForceFrom = until;
      if (end - inForceFrom < 2 * chosen.rule.spareMs) expect(stays).toBeUndefined();
      if (stays !== undefined) known.push({ daemons: stays.daemons, longerMs: stays.until - end });
    }
    expect(known.length).toBeGreaterThan(30);
    expect(Math.max(...known.map(({ daemons }) => daemons))).toBe(3);
    expect(Math.min(...known.map(({ longerMs }) => longerMs))).toBeGreaterThan(0);
  });
});

describe('what is learned', () => {
  const office = daily({ everyMs: 7 * MINUTE, fromH: 8, toH: 18, days: 7 });

  it('keeps a daemon from build to build at the time of day at which they come', () => {
    const { free, spareMs } = learned(office, 6 * DAY + 10 * HOUR).chosen.rule;
    expect(free > 0 || spareMs > 7 * MINUTE).toBe(true);
  });

  it('keeps more within the first half hour', () => {
    const storm = daily({ everyMs: 20_000, fromH: 0, toH: 24, days: 0.1 });
    expect(learned(storm, 10 * MINUTE - 1).seen.builds).toBe(0);
    const { chosen, seen } = learned(storm, 10 * MINUTE);
    expect(seen).toEqual({ builds: 30, hours: 1 / 6 });
    expect(chosen.rule.free).toBeGreaterThan(1);
  });

  it('chooses each half hour from the second day on', () => {
    expect(learned(office, DAY + 8 * HOUR + 29 * MINUTE).seen.hours).toBe(24);
    expect(learned(office, DAY + 8 * HOUR + 30 * MINUTE).seen.hours).toBe(24.5);
  });

  it('keeps none at night', () => {
    const { free, afterBuildMs } = learned(office, 6 * DAY + 2 * HOUR).chosen.rule;
    expect(free === 0 || afterBuildMs !== null).toBe(true);
  });

  it('keeps none free for one build a week', () => {
    expect(learned([{ at: 0, tookMs: MINUTE }], 7 * DAY).chosen.rule.free).toBe(0);
  });

  it('keeps no more free than there may be tasks', () => {
    const storm = daily({ everyMs: 5000, fromH: 0, toH: 24, days: 0.25 });
    expect(learned(storm, 6 * HOUR).chosen.rule.free).toBeLessThanOrEqual(POOLS.most);
  });

  it('says what it rests on', () => {
    const learning = learned(office, 2 * DAY + 9 * HOUR);
    expect(learning.seen.builds).toBe(office.filter(({ at }) => at < 2 * DAY + 9 * HOUR).length);
    expect(learning.seen.hours).toBe(49);
  });
});

describe('the waiting that is expected now', () => {
  // no daemon is worth to be kept, so each build waits
  const dear = { ...POOLS, taskPrice: 40 / HOUR };
  const office = daily({ everyMs: 37 * MINUTE, fromH: 8, toH: 18, days: 5 });
  const expectedAt = (days: number, hour: number, builds = office): number =>
    learned(builds, days * DAY + hour * HOUR, dear).waitingNow;
  const byDay = expectedAt(4, 12);

  it('is more by day than that of all hours', () => {
    expect(byDay).toBeGreaterThan(learned(office, 4 * DAY + 12 * HOUR, dear).chosen.cost.waiting);
  });

  it.each([
    { days: 4, hour: 1, least: 0, most: 0.03, because: 'no build comes at night' },
    { days: 4, hour: 5, least: 0.01, most: 0.3, because: 'the first builds of the day are near' },
    { days: 4, hour: 8, least: 0.3, most: 0.9, because: 'the day begins' },
    { days: 5, hour: 9, least: 0.2, most: 0.7, because: 'few builds have not come yet' },
    {
      days: 5,
      hour: 13,
      least: 0.02,
      most: 0.25,
      because: 'nine builds of the day have not come: it is a weekend',
    },
    { days: 6, hour: 12, least: 0.01, most: 0.12, because: 'the weekend goes on' },
  ])(
    'on day $days at $hour:00 is $least to $most of that, because $because',
    ({ days, hour, least, most }) => {
      const share = expectedAt(days, hour) / byDay;
      expect(share).toBeGreaterThanOrEqual(least);
      expect(share).toBeLessThan(most);
    },
  );

  it('is not none in a quiet hour of the first day, of which nothing is known', () => {
    const morning = daily({ everyMs: 37 * MINUTE, fromH: 8, toH: 12, days: 1 });
    const [quiet, never] = [expectedAt(0, 18, morning), new Learning(dear, 0).waitingNow];
    expect(quiet).toBeGreaterThan(0.02 * byDay);
    expect(never).toBeGreaterThan(0.05 * byDay);
  });

  it('is that of any time if builds come at once and twice a day, at no time of day', () => {
    const bursts = Array.from({ length: 8 }, (_, index) => index * 11.3 * HOUR).flatMap((at) =>
      Array.from({ length: 20 }, (_, number) => ({ at: at + number, tookMs: MINUTE })),
    );
    const { waitingNow, chosen } = learned(bursts, 3.9 * DAY, dear);
    expect(waitingNow).toBeGreaterThan(chosen.cost.waiting / 5);
  });

  it('is as before once a build has come', () => {
    const monday = [...office, { at: 7 * DAY + 8.2 * HOUR, tookMs: MINUTE }];
    expect(expectedAt(7, 8.4, monday)).toBeLessThan(0.3 * expectedAt(7, 8.6, monday));
  });
});

describe('the steps of learning', () => {
  it('give the same choice in pieces and at once', () => {
    const gaps = fc.array(fc.oneof(fc.constantFrom(0, MINUTE, HOUR), fc.nat(3 * HOUR)), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(gaps, fc.nat(3000), fc.nat(5 * HOUR), (given, steps, everyMs) => {
        let at = 0;
        const builds = given.map((gap) => {
          at += gap;
          return { at, tookMs: 1 + (at % (5 * MINUTE)) };
        });
        const until = at + HOUR;
        const pieces = new Learning(POOLS, builds[0]?.at ?? 0);
        for (let time = 0; time < until; time += everyMs + MINUTE) {
          const known = builds.filter((build) => build.at < time);
          pieces.learn(playing(known), Math.floor(time / MINUTE) * MINUTE, steps + 1);
        }
        while (!pieces.isUpTo(until)) pieces.learn(playing(builds), until, steps + 1);
        const whole = learned(builds, until);
        expect(pieces.chosen).toEqual(whole.chosen);
        expect(pieces.seen).toEqual(whole.seen);
        expect(pieces.waitingNow).toBe(whole.waitingNow);
      }),
      runs(1000),
    );
  });

  it('are no more than asked for, up to the rules of one build and one half hour', () => {
    const builds = daily({ everyMs: 5 * MINUTE, fromH: 0, toH: 24, days: 1 });
    const learning = new Learning(POOLS, 0);
    const rules = rulesFor(POOLS.most).length;
    const left = learning.learn(playing(builds), DAY, 10 * rules);
    expect(left).toBeGreaterThan(-2 * rules);
    expect(learning.seen.builds).toBeLessThanOrEqual(10);
    expect(learning.isUpTo(DAY)).toBe(false);
  });
});
