/** What a process knows after a restart, with the record that an earlier process saved. */
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '../../../lambda/adapters/parameters/record-parameter.ts';
import { deliberate } from '../../../lambda/decision/decide.ts';
import type { EpochMs, OrganizationId, PoolName } from '../../../lambda/decision/model/brands.ts';
import type { Job, Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import type { StockRecord } from '../../../lambda/look/stock/kept-record.ts';
import { StockLearner } from '../../../lambda/look/stock/stock-learner.ts';
import { ago, aJob, HOUR, jobId, MINUTE, NOW } from '../../support/parts.ts';
import { buildAt, stocked } from '../../support/stocked.ts';

/** Builds of two days, every two minutes in working hours. */
const builds = Array.from({ length: 1_200 }, (_, index) => (11 + index * 2) * MINUTE)
  .filter((age) => (age / HOUR) % 24 < 9)
  .map((age, index) => buildAt(ago(age), 60 + (index % 7) * 30, { id: jobId(`build-${index}`) }));

/** A pool without daemons, with these recent builds, so many milliseconds later. */
function worldOf(recent: readonly Job[], laterMs = 0) {
  const { snapshot, config } = stocked({ recent, pools: { cpu: {} } });
  return { snapshot: { ...snapshot, takenAt: (NOW + laterMs) as EpochMs }, config };
}

/** A look without the actions. `steps`: how much is learned after it. */
function look(
  learner: StockLearner,
  { snapshot, config }: ReturnType<typeof worldOf>,
  steps = Number.POSITIVE_INFINITY,
) {
  const seen: Snapshot = { ...snapshot, stock: learner.learned() };
  const { plan, stockSets } = deliberate(seen, config);
  learner.learn(stockSets, seen, steps);
  return plan;
}

/** A process that has learned these builds. */
function learnedFrom(recent: readonly Job[], laterMs = 0): StockLearner {
  const learner = new StockLearner();
  for (let count = 0; count < 3; count++) look(learner, worldOf(recent, laterMs));
  return learner;
}

/** A new process with this record. */
function restarted(record: StockRecord | undefined, now: EpochMs = NOW): StockLearner {
  const learner = new StockLearner();
  if (record !== undefined) learner.load(record, now);
  return learner;
}

/** The record has three digits of each amount of dollars. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === 'number' ? Number(each.toPrecision(3)) : each,
  );

const savedBy = (learner: StockLearner): StockRecord => {
  const record = learner.save();
  if (record === undefined) throw new Error('the process has nothing to save');
  return record;
};
const through = (record: StockRecord) => decodeRecord(encodeRecord(record) ?? '');
const timesIn = (learner: StockLearner): readonly number[] =>
  savedBy(learner).organizations.flatMap(({ logs }) => logs.flatMap((log) => log.builds.map(({ at }) => at)));

const warm = learnedFrom(builds);
const saved = savedBy(warm);

/** The builds alone: nothing is kept free. */
const withoutStock = (record: StockRecord): StockRecord => ({ ...record, choices: [] });

describe('a process that starts with the record', () => {
  it('plans at its first look what the warm process would, though it sees no old build', () => {
    const now = worldOf([], MINUTE);
    const plan = look(restarted(through(saved)), now);
    expect(rounded(plan.pools)).toEqual(rounded(look(learnedFrom(builds), now).pools));
    expect(plan.actions).toMatchObject([{ kind: 'set-desired', pool: 'cpu', from: 0, to: 2 }]);
    expect(look(new StockLearner(), now).actions).toEqual([]);
  });

  it('knows how long builds take, so a build waits for a daemon that is about to end', () => {
    const launched = (learner: StockLearner): number => {
      const busy = { config: { startTimeMs: 5 * MINUTE }, busy: [2 * MINUTE, 2 * MINUTE] };
      const pending = [aJob({ created_at: ago(20_000) })];
      const { snapshot, config } = stocked({ recent: [], pending, pools: { cpu: busy } });
      const { plan } = deliberate({ ...snapshot, stock: learner.learned() }, config);
      return plan.pools[0]?.desired.to ?? Number.NaN;
    };
    expect(launched(restarted(through(withoutStock(saved))))).toBe(2);
    expect(launched(new StockLearner())).toBe(3);
  });

  it('chooses the same rule again once it has replayed the builds of the record', () => {
    const cold = restarted(through(saved));
    const first = savedBy(warm).choices.map(({ rule }) => rule);
    for (let count = 0; count < 3; count++) look(cold, worldOf([], 31 * MINUTE));
    expect(savedBy(cold).choices.map(({ rule }) => rule)).toEqual(first);
    expect(savedBy(cold).choices[0]?.builds).toBe(builds.length);
  });

  it('replays with the start time that was seen, and not with the configured one', () => {
    const choices = saved.choices.map((choice) => ({ ...choice, startMs: 10_000 }));
    const cold = restarted(through({ ...saved, choices }));
    look(cold, worldOf([], 31 * MINUTE));
    const slow = restarted(through(saved));
    look(slow, worldOf([], 31 * MINUTE));
    const [quickly, slowly] = [cold, slow].map((each) => savedBy(each).choices[0]);
    expect(quickly?.startMs).toBe(10_000);
    expect(quickly?.rule.free).toBeLessThanOrEqual(slowly?.rule.free ?? 0);
    expect(quickly?.waiting).not.toBe(slowly?.waiting);
  });

  it('counts no build twice that it still sees itself', () => {
    const cold = restarted(through(saved));
    look(cold, worldOf(builds, 6 * MINUTE));
    expect(timesIn(cold)).toEqual(timesIn(warm));
  });

  it('adds the builds that came since', () => {
    const cold = restarted(through(saved));
    const since = buildAt((NOW + MINUTE) as EpochMs, 60, { id: jobId('since') });
    look(cold, worldOf([since, ...builds], 12 * MINUTE));
    expect(timesIn(cold)).toEqual([...timesIn(warm), NOW + MINUTE]);
  });

  it('keeps what it has learned itself when the record comes late', () => {
    const late = new StockLearner();
    const since = buildAt((NOW + MINUTE) as EpochMs, 60, { id: jobId('since') });
    look(late, worldOf([since, ...builds.slice(0, 20)], 12 * MINUTE));
    late.load(through(saved) ?? saved, (NOW + 13 * MINUTE) as EpochMs);
    look(late, worldOf([since], 18 * MINUTE));
    expect(timesIn(late)).toEqual([...timesIn(warm), NOW + MINUTE]);
  });
});

it('no build is lost, though each process lives for three minutes', () => {
  const came = Array.from({ length: 12 }, (_, index) => NOW + 7 * index * MINUTE);
  let record: StockRecord | undefined;
  let learner = restarted(record);
  for (let minute = 0; minute < 90; minute++) {
    const at = NOW + minute * MINUTE;
    if (minute % 3 === 0) learner = restarted(record && through(record), at as EpochMs);
    // a new process sees the last job of a daemon, and none before it
    const last = came.findLast((each) => each <= at - MINUTE);
    const recent = last === undefined ? [] : [buildAt(last as EpochMs, 60, { id: jobId(`build-${last}`) })];
    look(learner, worldOf(recent, minute * MINUTE));
    record = learner.save() ?? record;
  }
  expect(record?.organizations[0]?.logs[0]?.builds.map(({ at }) => at)).toEqual(came);
});

describe('a record that does not fit', () => {
  const plansOf = (record: StockRecord | undefined) =>
    [MINUTE, 2 * MINUTE].map((laterMs) => look(restarted(record), worldOf(builds, laterMs)).pools);

  it('of another coderd changes nothing', () => {
    const other = 'b0a7c1f2-0000-4000-8000-000000000000' as OrganizationId;
    const foreign = {
      ...saved,
      organizations: saved.organizations.map((each) => ({ ...each, id: other })),
      choices: saved.choices.map((choice) => ({ ...choice, organizationId: other })),
    };
    const cold = restarted(foreign);
    for (let count = 0; count < 3; count++) look(cold, worldOf(builds, 6 * MINUTE));
    const own = savedBy(cold).choices.filter(({ organizationId }) => organizationId !== other);
    expect(own).toEqual(savedBy(learnedFrom(builds, 6 * MINUTE)).choices);
  });

  it('has the choices of pools that are gone for a day, however short each process lives', () => {
    const [own] = saved.choices;
    const gone = Array.from({ length: 60 }, (_, index) => ({ ...own, pools: [`gone-${index}` as PoolName] }));
    let record: StockRecord = { ...saved, choices: [...gone, ...saved.choices] as StockRecord['choices'] };
    const kept = Array.from({ length: 10 }, (_, index) => {
      const laterMs = index * 3 * HOUR;
      const process = restarted(through(record), (NOW + laterMs) as EpochMs);
      look(process, worldOf(builds, laterMs));
      record = savedBy(process);
      if (index > 0) expect(record.choices[0]?.pools).toEqual(['cpu']);
      return record.choices.length;
    });
    expect(kept).toEqual([61, 61, 61, 61, 61, 61, 61, 61, 61, 1]);
  });

  it('of ten days ago is forgotten but for its choice', () => {
    const tenDays = 10 * 24 * HOUR;
    const cold = restarted(saved, (NOW + tenDays) as EpochMs);
    look(cold, worldOf([], tenDays));
    expect(cold.save()).toBeUndefined();
  });

  it('from the future does not stop a process from learning', () => {
    const organizations = saved.organizations.map((each) => ({ ...each, upTo: NOW + 1000 * HOUR }));
    const cold = restarted({ ...saved, organizations });
    const since = buildAt((NOW + MINUTE) as EpochMs, 60, { id: jobId('since') });
    look(cold, worldOf([since], 12 * MINUTE));
    expect(timesIn(cold)).toContain(NOW + MINUTE);
  });

  it('leaves the plan as that of a fresh process if it is lost', () => {
    expect(plansOf(undefined)).toEqual(plansOf(decodeRecord('none')));
  });
});

describe('two processes at once', () => {
  it('lose only what the last writer did not see', () => {
    const [one, other] = [restarted(through(saved)), restarted(through(saved))];
    const since = buildAt((NOW + MINUTE) as EpochMs, 60, { id: jobId('since') });
    look(one, worldOf([since], 12 * MINUTE));
    look(other, worldOf([], 12 * MINUTE));
    // the last writer wins
    const third = restarted(through(savedBy(other)));
    look(third, worldOf([], 20 * MINUTE));
    expect(timesIn(third)).toEqual(timesIn(warm));
    expect(timesIn(one)).toEqual([...timesIn(warm), NOW + MINUTE]);
  });
});

it('a record changes only its time while no build comes', () => {
  const learner = learnedFrom(builds);
  const textOf = ({ organizations }: StockRecord) => JSON.stringify(organizations.map(({ logs }) => logs));
  const before = savedBy(learner);
  const text = textOf(before);
  look(learner, worldOf(builds, 6 * MINUTE));
  expect(savedBy(learner).organizations[0]?.upTo).toBeGreaterThan(before.organizations[0]?.upTo ?? 0);
  expect(textOf(savedBy(learner))).toBe(text);
});

it('a process that has learned nothing saves nothing', () => {
  const idle = new StockLearner();
  expect(idle.save()).toBeUndefined();
  look(idle, worldOf([]));
  expect(idle.save()).toBeUndefined();
});
