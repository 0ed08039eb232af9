/** The record of recent jobs: what it merges and forgets, and when its array stays the same. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RememberedJobs } from '../../lambda/adapters/coderd/job-record.ts';
import { NewestJobs } from '../../lambda/adapters/coderd/newest-jobs.ts';
import { type EpochMs, type OrganizationId, plusMs } from '../../lambda/decision/model/brands.ts';
import type { Job, Reading, Workspace } from '../../lambda/decision/model/snapshot.ts';
import { tagKey } from '../../lambda/decision/model/tags.ts';
import { DAY_MS as DAY } from '../../lambda/decision/model/units.ts';
import type { SeenJobs } from '../../lambda/look/ports.ts';
import {
  ago,
  aJob,
  aWorkspace,
  daemonId,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  reading,
  SECOND,
} from '../support/parts.ts';
import { runs } from '../support/runs.ts';

const ORGANIZATION = 'org-default' as OrganizationId;

type Lists = {
  readonly jobs?: readonly Job[];
  readonly previousJobs?: readonly Job[];
  readonly workspaces?: readonly Workspace[];
  readonly now?: EpochMs;
};

function seen({ jobs = [], previousJobs = [], workspaces, now = NOW }: Lists): SeenJobs {
  return {
    jobs: reading(jobs),
    previousJobs: reading(previousJobs),
    ...(workspaces === undefined ? {} : { workspaces: reading(workspaces) }),
    now,
  };
}

/** The jobs of the record after these looks. */
function itemsAfter(...looks: readonly Lists[]): readonly Job[] {
  const record = new RememberedJobs();
  return looks.map((lists) => record.recentJobs(ORGANIZATION, seen(lists)).items).at(-1) ?? [];
}

const idsOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id);

const PENDING = aJob({ id: jobId('a'), created_at: ago(5 * MINUTE) });
/** Without all fields that a later list may add. */
const BARE: Job = {
  ...{ id: PENDING.id, created_at: PENDING.created_at, organization_id: ORGANIZATION, tags: {} },
  ...{ status: 'pending', type: 'workspace_build' },
};
const RUNNING: Job = { ...PENDING, status: 'running', started_at: ago(4 * MINUTE), worker_id: daemonId('d') };
const RUNNING_SINCE: Partial<Job> = { status: 'running', started_at: ago(MINUTE), worker_id: daemonId('d') };
const SUCCEEDED: Job = { ...RUNNING, status: 'succeeded', completed_at: ago(MINUTE) };

type Build = Workspace['latest_build'];

/** A workspace whose latest build is the job `a`. */
function built(job: Partial<Build['job']> = {}, build: Partial<Build> = {}): Workspace {
  return aWorkspace({
    id: 'workspace',
    latest_build: {
      created_at: PENDING.created_at,
      transition: 'start',
      reason: 'dashboard',
      initiator_id: 'somebody',
      ...build,
      job: { id: PENDING.id, status: 'pending', created_at: PENDING.created_at, tags: {}, ...job },
    },
  });
}

const OF_WORKSPACE = {
  reason: 'dashboard',
  initiator_id: 'somebody',
  type: 'workspace_build',
  metadata: { workspace_id: 'workspace', template_id: 'template', workspace_build_transition: 'start' },
};
const ENDED = { status: 'succeeded', started_at: ago(4 * MINUTE), completed_at: ago(MINUTE) };

describe('the record of one job', () => {
  it.each<{ scenario: string; looks: readonly Lists[]; expected: Partial<Job> }>([
    {
      scenario: 'takes status, worker and start from the list of open jobs',
      looks: [{ jobs: [PENDING] }, { jobs: [RUNNING] }],
      expected: { status: 'running', worker_id: daemonId('d'), started_at: ago(4 * MINUTE) },
    },
    {
      scenario: 'takes the completion from the previous job of an idle daemon',
      looks: [{ jobs: [RUNNING] }, { previousJobs: [SUCCEEDED] }],
      expected: { status: 'succeeded', completed_at: ago(MINUTE) },
    },
    {
      scenario: 'makes a job of the latest build of a workspace',
      looks: [{ workspaces: [built(ENDED)] }],
      expected: { id: PENDING.id, created_at: PENDING.created_at, ...ENDED, ...OF_WORKSPACE },
    },
    {
      scenario: 'takes the worker from the latest build of a workspace',
      looks: [{ workspaces: [built({ ...ENDED, worker_id: daemonId('d') })] }],
      expected: { worker_id: daemonId('d') },
    },
    {
      scenario: 'takes the worker from the list of open jobs, which is newer than the others',
      looks: [{ previousJobs: [{ ...RUNNING, worker_id: daemonId('before') }], jobs: [RUNNING] }],
      expected: { worker_id: daemonId('d') },
    },
    {
      scenario: 'takes the creation time of the build where the job has none',
      looks: [{ workspaces: [built({ created_at: null }, { created_at: ago(6 * MINUTE) })] }],
      expected: { created_at: ago(6 * MINUTE) },
    },
    {
      scenario: 'adds the reason and the transition of a build to a listed job, and keeps its worker',
      looks: [{ jobs: [RUNNING] }, { workspaces: [built(ENDED)] }],
      expected: { worker_id: daemonId('d'), ...ENDED, ...OF_WORKSPACE },
    },
    {
      scenario: 'keeps the reason and the transition when a later list lacks them',
      looks: [{ workspaces: [built()] }, { jobs: [{ ...RUNNING, reason: null, metadata: {} }] }],
      expected: { status: 'running', ...OF_WORKSPACE },
    },
    {
      scenario: 'takes a new status of a job that has come no further',
      looks: [{ jobs: [RUNNING] }, { jobs: [{ ...RUNNING, status: 'canceling' }] }],
      expected: { status: 'canceling' },
    },
    {
      scenario: 'takes the status of a pending job that was canceled',
      looks: [{ jobs: [PENDING] }, { workspaces: [built({ status: 'canceled', completed_at: NOW })] }],
      expected: { status: 'canceled', completed_at: NOW },
    },
  ])('$scenario', ({ looks, expected }) => {
    const items = itemsAfter(...looks);
    expect(idsOf(items)).toEqual(['a']);
    expect(items[0]).toMatchObject(expected);
  });

  it('keeps the status of a job that has ended when an older list still shows it running', () => {
    const [job] = itemsAfter({ previousJobs: [SUCCEEDED] }, { jobs: [RUNNING] });
    expect(job).toEqual(SUCCEEDED);
  });

  it.each<{ field: string; news: Partial<Job> }>([
    { field: 'started_at', news: { started_at: ago(4 * MINUTE) } },
    { field: 'completed_at', news: { completed_at: ago(MINUTE) } },
    { field: 'canceled_at', news: { canceled_at: ago(MINUTE) } },
    { field: 'error', news: { error: 'hung' } },
    { field: 'worker_id', news: { worker_id: daemonId('d') } },
    { field: 'worker_name', news: { worker_name: 'cpu-1' } },
    { field: 'initiator_id', news: { initiator_id: 'anna' } },
    { field: 'reason', news: { reason: 'dashboard' } },
    { field: 'workspace_id', news: { metadata: { workspace_id: 'w' } } },
    { field: 'workspace_name', news: { metadata: { workspace_name: 'mine' } } },
    { field: 'template_id', news: { metadata: { template_id: 't' } } },
    { field: 'template_name', news: { metadata: { template_name: 'linux' } } },
    { field: 'workspace_build_transition', news: { metadata: { workspace_build_transition: 'stop' } } },
  ])('takes $field from a later list, and keeps it when the next list lacks it', ({ news }) => {
    const later = itemsAfter({ jobs: [BARE] }, { jobs: [{ ...BARE, ...news }] }, { jobs: [BARE] });
    expect(later[0]).toMatchObject(news);
  });

  it.each([
    { missing: 'its id', workspace: built({ id: null }) },
    { missing: 'its tags', workspace: built({ tags: null }) },
    { missing: 'its time', workspace: built({ created_at: null }, { created_at: null }) },
  ])('ignores a build without $missing', ({ workspace }) => {
    expect(itemsAfter({ workspaces: [workspace] })).toEqual([]);
  });

  it.each(['truncated', 'stale', 'failed'] as const)('has the items of a %s list', (status) => {
    const record = new RememberedJobs();
    const { items } = record.recentJobs(ORGANIZATION, {
      jobs: reading([PENDING], status),
      previousJobs: reading([aJob({ id: jobId('b') })], status),
      workspaces: reading([built({ id: jobId('c') })], status),
      now: NOW,
    });
    expect([...idsOf(items)].sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('the reading', () => {
  it('is ok and is taken now', () => {
    const record = new RememberedJobs();
    const later = plusMs(NOW, MINUTE);
    record.recentJobs(ORGANIZATION, seen({}));
    expect(record.recentJobs(ORGANIZATION, seen({ now: later }))).toEqual({
      status: 'ok',
      takenAt: later,
      items: [],
    });
  });

  it('separates the organizations', () => {
    const record = new RememberedJobs();
    record.recentJobs(ORGANIZATION, seen({ jobs: [PENDING] }));
    expect(record.recentJobs('other' as OrganizationId, seen({})).items).toEqual([]);
  });
});

describe('the limits of the record', () => {
  it.each([
    { created: ago(7 * DAY), kept: true, because: 'the record keeps seven days' },
    { created: ago(7 * DAY + 1), kept: false, because: 'it is older than seven days' },
    { created: ago(-HOUR), kept: true, because: 'clocks may differ by an hour' },
    { created: ago(-HOUR - 1), kept: false, because: 'clocks do not differ by more than an hour' },
    { created: Number.NaN as EpochMs, kept: false, because: 'it is not a time' },
    { created: Number.POSITIVE_INFINITY as EpochMs, kept: false, because: 'it is not a time' },
  ])('keep a job created at $created: $kept, because $because', ({ created, kept }) => {
    expect(itemsAfter({ jobs: [aJob({ created_at: created })] })).toHaveLength(kept ? 1 : 0);
  });

  it('keep only the newest 500 jobs of a tag set', () => {
    const many = (tags: Job['tags'], count: number) =>
      Array.from({ length: count }, (_, index) => aJob({ tags, created_at: ago(index * SECOND) }));
    const [plain, big] = [many({}, 510), many({ size: 'big' }, 3)];
    const items = itemsAfter({ jobs: [...plain.slice(200), ...big] }, { jobs: plain.slice(0, 200) });
    const kept = [...plain.slice(0, 500), ...big];
    expect(new Set(idsOf(items))).toEqual(new Set(idsOf(kept)));
    expect(items).toHaveLength(503);
  });

  it('keep only the newest 20,000 jobs of all tag sets, and the same array while nothing changes', () => {
    const jobs = Array.from({ length: 20_050 }, (_, index) =>
      aJob({ tags: { n: String(index) }, created_at: ago(index * SECOND) }),
    );
    const record = new RememberedJobs();
    const { items } = record.recentJobs(ORGANIZATION, seen({ jobs }));
    expect(items).toHaveLength(20_000);
    expect(items.at(-1)).toEqual(jobs[19_999]);
    expect(record.recentJobs(ORGANIZATION, seen({ jobs: jobs.toReversed() })).items).toBe(items);
  });
});

describe('the array of items', () => {
  const FIRST: Lists = { jobs: [RUNNING], workspaces: [built({ id: jobId('b'), ...ENDED })] };
  const copied = <T>(value: T): T => structuredClone(value);

  /** Whether the second look gets the same array as the first. */
  function isSameAfter(second: Lists): boolean {
    const record = new RememberedJobs();
    const [one, two] = [FIRST, second].map((lists) => record.recentJobs(ORGANIZATION, seen(lists)).items);
    return one === two;
  }

  it.each<{ scenario: string; second: Lists }>([
    { scenario: 'all lists are read again without changes', second: copied(FIRST) },
    { scenario: 'a list has fewer items', second: {} },
    { scenario: 'time passes', second: { ...copied(FIRST), now: plusMs(NOW, HOUR) } },
  ])('stays the same when $scenario', ({ second }) => {
    expect(isSameAfter(second)).toBe(true);
  });

  it.each<{ scenario: string; second: Lists }>([
    { scenario: 'a job is new', second: { jobs: [aJob()] } },
    { scenario: 'a job has completed', second: { previousJobs: [SUCCEEDED] } },
    { scenario: 'a reason is new', second: { workspaces: [built()] } },
    { scenario: 'a job is too old', second: { now: plusMs(NOW, 7 * DAY) } },
  ])('is a new one when $scenario', ({ second }) => {
    expect(isSameAfter(second)).toBe(false);
  });

  it('is never changed after it was returned', () => {
    const record = new RememberedJobs();
    const { items } = record.recentJobs(ORGANIZATION, seen(FIRST));
    const before = copied(items);
    record.recentJobs(ORGANIZATION, seen({ jobs: [aJob()], previousJobs: [SUCCEEDED] }));
    expect(items).toEqual(before);
  });
});

it('reads a list of workspaces once while it is the same object', () => {
  let reads = 0;
  const items = [built(ENDED)];
  const workspaces = {
    status: 'ok' as const,
    get items() {
      reads += 1;
      return items;
    },
  };
  const record = new RememberedJobs();
  const look = (given: Lists & { workspaces?: never }, own = workspaces) =>
    record.recentJobs(ORGANIZATION, { ...seen(given), workspaces: own });
  look({});
  look({ jobs: [aJob()] });
  record.recentJobs(ORGANIZATION, seen({}));
  look({});
  expect(reads).toBe(1);
  look({}, { status: 'ok', items: [built({ id: jobId('b'), ...ENDED })] });
  expect(idsOf(look({}, workspaces).items)).toContain('b');
  expect(reads).toBe(2);
});

/** The facts of a job that do not change. */
const fact = fc.record({
  ageMs: fc.integer({ min: -2 * HOUR, max: 8 * DAY }),
  size: fc.constantFrom('small', 'big', 'huge'),
});
const FACTS = fc.array(fact, { minLength: 1, maxLength: 12 });

/** One list's row of a job: its stage, and the fields that are missing. */
const telling = fc.record({
  index: fc.nat(11),
  stage: fc.constantFrom(0, 1, 2),
  hasReason: fc.boolean(),
  status: fc.constantFrom('pending', 'running', 'succeeded', 'canceling', 'new-status'),
});
type Telling = { index: number; stage: number; hasReason: boolean; status: string };
const tellings = fc.uniqueArray(telling, { selector: ({ index }) => index, maxLength: 12 });
const uglyLook = fc.record({ jobs: tellings, previousJobs: tellings, workspaces: tellings });
type UglyLook = { jobs: Telling[]; previousJobs: Telling[]; workspaces: Telling[] };
type Fact = { readonly ageMs: number; readonly size: string };

function jobsOf(facts: readonly Fact[], list: readonly Telling[]): readonly Job[] {
  return list.flatMap(({ index, stage, hasReason, status }) => {
    const found = facts[index];
    if (found === undefined) return [];
    const created_at = ago(found.ageMs);
    return aJob({
      id: jobId(`ugly-${index}`),
      created_at,
      tags: { size: found.size },
      status,
      ...(stage > 0 ? { started_at: plusMs(created_at, SECOND) } : {}),
      ...(stage > 1 ? { completed_at: plusMs(created_at, MINUTE) } : {}),
      ...(hasReason ? { reason: 'dashboard' } : {}),
    });
  });
}

function listsOf(facts: readonly Fact[], look: UglyLook): Lists {
  return {
    jobs: jobsOf(facts, look.jobs),
    previousJobs: jobsOf(facts, look.previousJobs),
    workspaces: jobsOf(facts, look.workspaces).map((job) =>
      aWorkspace({
        id: `of-${job.id}`,
        latest_build: { reason: job.reason, transition: 'start', job: { ...job } },
      }),
    ),
  };
}

describe('the record of any lists', () => {
  it('does not change when a look is repeated', () => {
    fc.assert(
      fc.property(FACTS, fc.array(uglyLook, { minLength: 1, maxLength: 4 }), (facts, looks) => {
        const record = new RememberedJobs();
        const lists = looks.map((look) => seen(listsOf(facts, look)));
        const last = lists.at(-1);
        for (const given of lists) record.recentJobs(ORGANIZATION, given);
        if (last === undefined) return;
        const settled = record.recentJobs(ORGANIZATION, last).items;
        expect(record.recentJobs(ORGANIZATION, structuredClone(last)).items).toEqual(settled);
        expect(record.recentJobs(ORGANIZATION, { ...last }).items).toEqual(settled);
      }),
      runs(1000),
    );
  });

  it('does not depend on the order of items in a list', () => {
    fc.assert(
      fc.property(FACTS, fc.array(uglyLook, { maxLength: 4 }), (facts, looks) => {
        const turned = looks.map(({ jobs, previousJobs, workspaces }) => ({
          jobs: jobs.toReversed(),
          previousJobs: previousJobs.toReversed(),
          workspaces: workspaces.toReversed(),
        }));
        const play = (all: readonly UglyLook[]) => itemsAfter(...all.map((look) => listsOf(facts, look)));
        expect(play(turned)).toEqual(play(looks));
      }),
      runs(1000),
    );
  });

  it('never loses a completion, a start or a reason', () => {
    fc.assert(
      fc.property(FACTS, fc.array(uglyLook, { maxLength: 5 }), (facts, looks) => {
        const record = new RememberedJobs();
        let before: ReadonlyMap<string, Job> = new Map();
        for (const look of looks) {
          const lists = listsOf(facts, look);
          const all = [...(lists.jobs ?? []), ...(lists.previousJobs ?? [])];
          const { items } = record.recentJobs(ORGANIZATION, seen(lists));
          const byId = new Map(items.map((job) => [job.id as string, job]));
          for (const known of [...before.values(), ...all]) {
            const now = byId.get(known.id);
            if (now === undefined) continue;
            for (const field of ['completed_at', 'started_at', 'reason'] as const)
              expect(now[field] ?? null).toBe(known[field] ?? now[field] ?? null);
          }
          expect([...before.keys()].filter((id) => !byId.has(id))).toEqual([]);
          before = byId;
        }
      }),
      runs(1000),
    );
  });

  it('has sorted items, one for each id, of the last seven days', () => {
    const hours = fc.integer({ min: -100, max: 300 });
    fc.assert(
      fc.property(FACTS, fc.array(fc.tuple(uglyLook, hours), { maxLength: 5 }), (facts, looks) => {
        const record = new RememberedJobs();
        for (const [look, hour] of looks) {
          const now = plusMs(NOW, hour * HOUR);
          const { items } = record.recentJobs(ORGANIZATION, seen({ ...listsOf(facts, look), now }));
          expect(new Set(idsOf(items)).size).toBe(items.length);
          expect(items).toEqual([...items].sort(newestFirst));
          expect(items.filter(({ created_at }) => created_at < now - 7 * DAY)).toEqual([]);
          expect(items.filter(({ created_at }) => created_at > now + HOUR)).toEqual([]);
        }
      }),
      runs(1000),
    );
  });
});

function newestFirst(a: Job, b: Job): number {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
}

describe('the newest jobs', () => {
  const LIMITS = { perTagSet: 3, inAll: 5 };

  /** A second, simpler implementation of the rule. */
  function expected(jobs: readonly Job[]): readonly Job[] {
    const sorted = [...jobs].sort(newestFirst);
    return sorted
      .filter((job, index) => {
        const newer = sorted.slice(0, index).filter((other) => tagKey(other.tags) === tagKey(job.tags));
        return newer.length < LIMITS.perTagSet;
      })
      .slice(0, LIMITS.inAll);
  }

  it('are the newest of each tag set and of all, whatever the order and batches', () => {
    const job = fc.record({ minute: fc.nat(9), size: fc.constantFrom('small', 'big', 'huge') });
    fc.assert(
      fc.property(fc.array(job, { maxLength: 20 }), fc.nat(20), (facts, cut) => {
        const jobs = facts.map(({ minute, size }, index) =>
          aJob({ id: jobId(`n-${index}`), created_at: ago(minute * MINUTE), tags: { size } }),
        );
        const newest = new NewestJobs(LIMITS);
        for (const item of jobs.slice(0, cut)) newest.put(item);
        const rest = jobs.slice(cut);
        const first = newest.items();
        expect(first).toEqual(expected(jobs.slice(0, cut)));
        for (const item of rest) newest.put(item);
        const second = newest.items();
        expect(second).toEqual(expected([...first, ...rest]));
        expect(jobs.filter(({ id }) => newest.get(id) !== undefined).sort(newestFirst)).toEqual(second);
        for (const item of rest) newest.put(item);
        expect(newest.items()).toBe(second);
      }),
      runs(1000),
    );
  });
});

describe('the end of a job is known', () => {
  const done = (given: Partial<Job>): Job =>
    aJob({ id: jobId('a'), started_at: ago(2 * MINUTE), completed_at: ago(MINUTE), ...given });
  const knows = (...lists: readonly Lists[]): boolean => {
    const record = new RememberedJobs();
    for (const list of lists) record.recentJobs(ORGANIZATION, seen(list));
    return record.knowsEnd(ORGANIZATION, jobId('a'));
  };

  it.each([
    { lists: [], is: false, because: 'no look saw the job' },
    { lists: [{ jobs: [done({ completed_at: undefined })] }], is: false, because: 'a look saw it running' },
    { lists: [{ previousJobs: [done({ status: 'succeeded' })] }], is: true, because: 'it succeeded' },
    {
      lists: [{ previousJobs: [done({ status: 'failed', error: 'hung' })] }],
      is: true,
      because: 'it failed, and a look saw why',
    },
    {
      lists: [{ previousJobs: [done({ status: 'failed' })] }],
      is: false,
      because: 'it failed, and no look saw why',
    },
    {
      lists: [
        { jobs: [done({ completed_at: undefined, status: 'running' })] },
        { previousJobs: [done({ status: 'failed', error: 'other' })] },
        { jobs: [] },
      ],
      is: true,
      because: 'an earlier look saw its end',
    },
  ])('($is): $because', ({ lists, is }) => {
    expect(knows(...lists)).toBe(is);
  });

  it('not of a job of another organization', () => {
    const record = new RememberedJobs();
    record.recentJobs(ORGANIZATION, seen({ previousJobs: [done({ status: 'succeeded' })] }));
    expect(record.knowsEnd('other' as OrganizationId, jobId('a'))).toBe(false);
  });
});

describe('a job that was pending and is in no list of open jobs any more', () => {
  const waiting = (minutes: number, given: Partial<Job> = {}): Job =>
    aJob({ id: jobId('a'), created_at: ago(minutes * MINUTE), ...given });
  const gone = (job: Job, open: Reading<Job> = { ...reading([]), takenAt: NOW }): readonly string[] => {
    const record = new RememberedJobs();
    record.recentJobs(ORGANIZATION, seen({ jobs: [job] }));
    return record.gone(ORGANIZATION, open);
  };

  it.each([
    { job: waiting(29), is: true, because: 'coderd fails it about now' },
    { job: waiting(28), is: false, because: 'it is too young: a daemon took it, or somebody cancelled it' },
    { job: waiting(120), is: true, because: 'a storm may last for so long' },
    { job: waiting(121), is: false, because: 'coderd does not know it any more' },
    { job: waiting(31, RUNNING_SINCE), is: false, because: 'a look saw it running' },
  ])('is asked for ($is): $because', ({ job, is }) => {
    expect(gone(job)).toEqual(is ? ['a'] : []);
  });

  it('is not asked for while it is in the list, or while the list could not be read', () => {
    const job = waiting(40);
    expect(gone(job, { ...reading([job]), takenAt: NOW })).toEqual([]);
    expect(gone(job, { ...reading([], 'failed'), takenAt: NOW })).toEqual([]);
  });

  it('is not asked for again once its end is known', () => {
    const record = new RememberedJobs();
    const job = waiting(31);
    record.recentJobs(ORGANIZATION, seen({ jobs: [job] }));
    const failed: Job = { ...job, status: 'failed', started_at: NOW, completed_at: NOW };
    record.recentJobs(ORGANIZATION, seen({ previousJobs: [failed] }));
    expect(record.gone(ORGANIZATION, { ...reading([]), takenAt: NOW })).toEqual([]);
  });
});

it("keeps the name of a job's daemon after coderd has deleted the daemon", () => {
  const record = new RememberedJobs();
  const job = aJob({ id: jobId('a'), status: 'running', worker_id: daemonId('d') });
  record.recentJobs(ORGANIZATION, seen({ jobs: [{ ...job, worker_name: 'cpu-1' }] }));
  const { items } = record.recentJobs(ORGANIZATION, seen({ jobs: [job] }));
  expect(items).toMatchObject([{ worker_name: 'cpu-1' }]);
});
