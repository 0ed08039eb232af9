import { describe, expect, it } from 'vitest';
import type { EpochMs, JobId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { SECOND_MS as SECOND } from '../../../../lambda/decision/model/units.ts';
import { IS_FULL } from '../../../../test/support/runs.ts';
import type { AcquiredJob, DaemonConnection } from '../../../world/base/daemon-connection.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { CoderdModel, type CoderdOptions } from '../../../world/coderd/model.ts';

const START = Date.parse('2026-11-20T09:00:00Z') as EpochMs;

function world(options: Partial<CoderdOptions> = {}) {
  const timeline = new Timeline(START);
  const random = new Random(1);
  const model = new CoderdModel({ timeline, random, organizations: ['default', 'data'], ...options });
  const daemon = (name: string, tags: Tags = {}, organization = 'default'): DaemonConnection => {
    const key = model.addKey({ organization, name: `key-of-${name}`, tags });
    return model.connect({ key, name, version: 'v2.15.0' });
  };
  const submit = (job: Partial<Parameters<CoderdModel['submitJob']>[0]> = {}): JobId =>
    model.submitJob({ organization: 'default', tags: {}, durationMs: 60 * SECOND, ...job });
  const job = (id: JobId) => {
    const found = model.jobs().find((record) => record.id === id);
    if (found === undefined) throw new Error(`finding job ${id}: there is none`);
    return found;
  };
  const later = (ms: number): void => timeline.advanceTo((timeline.now() + ms) as EpochMs);
  return { timeline, model, daemon, submit, job, later };
}

/** Lets the daemon finish every job that it gets, at once. Returns the jobs in order. */
function workOff(connection: DaemonConnection): JobId[] {
  const order: JobId[] = [];
  const work = (job: AcquiredJob): void => {
    order.push(job.id);
    connection.complete(job.id, job.willFail ? 'failed' : 'succeeded');
    connection.acquire(work);
  };
  connection.acquire(work);
  return order;
}

describe('job acquisition', () => {
  it('gives a pending job at once to a daemon that asks', () => {
    const { daemon, submit, job } = world();
    const id = submit({ durationMs: 7, willFail: true });
    const given: AcquiredJob[] = [];
    const connection = daemon('one');
    connection.acquire((acquired) => given.push(acquired));
    expect(given).toEqual([{ id, durationMs: 7, willFail: true }]);
    expect(job(id)).toMatchObject({ status: 'running', startedAt: START, workerId: connection.id });
  });

  it('gives a new job at once to a daemon that waits', () => {
    const { daemon, submit, later } = world();
    const given: JobId[] = [];
    daemon('one').acquire(({ id }) => given.push(id));
    later(20 * SECOND);
    expect(given).toEqual([]);
    expect(given).toEqual([submit()]);
  });

  it('gives one job to one daemon', () => {
    const { daemon, submit, model } = world();
    const given: JobId[] = [];
    for (const name of ['aa', 'bb', 'cc']) daemon(name).acquire(({ id }) => given.push(id));
    const id = submit();
    expect(given).toEqual([id]);
    expect(model.jobs()).toHaveLength(1);
  });

  it('refuses to give a second job to a daemon that has one, or that has asked already', () => {
    const { daemon, submit } = world();
    const connection = daemon('one');
    connection.acquire(() => {});
    expect(() => connection.acquire(() => {})).toThrow(/one job at a time/);
    submit();
    expect(() => connection.acquire(() => {})).toThrow(/one job at a time/);
  });

  it('gives no job to a daemon that withdrew its request or closed its websocket', () => {
    const { daemon, submit, job } = world();
    const [withdrawn, closed] = [daemon('one'), daemon('two')];
    for (const connection of [withdrawn, closed]) connection.acquire(() => expect.unreachable());
    withdrawn.cancelAcquire();
    closed.close();
    expect(job(submit()).status).toBe('pending');
    expect(() => closed.acquire(() => {})).toThrow(/closed/);
    expect(() => closed.complete('x' as JobId, 'succeeded')).toThrow(/closed/);
  });

  it('hands out the oldest job first, and prebuilds after jobs of people', () => {
    const { daemon, submit, later } = world();
    const order = ['prebuilds', 'user', 'prebuilds', 'user'] as const;
    const ids = order.map((initiator) => {
      later(SECOND);
      return submit({ initiator });
    });
    expect(workOff(daemon('one'))).toEqual([ids[1], ids[3], ids[0], ids[2]]);
  });

  it('hands out a prebuild after jobs of people with other tag sets', () => {
    const { daemon, submit } = world();
    const [prebuild, user] = [
      submit({ initiator: 'prebuilds', tags: { a: '1' } }),
      submit({ tags: { b: '1' } }),
    ];
    expect(workOff(daemon('one', { a: '1', b: '1' }))).toEqual([user, prebuild]);
  });

  it('hands out prebuilds in order of age before 2.25', () => {
    const { daemon, submit } = world({ version: 'v2.24.4' });
    const ids = [submit({ initiator: 'prebuilds' }), submit(), submit({ initiator: 'prebuilds' })];
    expect(workOff(daemon('one'))).toEqual(ids);
  });

  it('hands out the oldest job first over all tag sets that the daemon fits', () => {
    const { daemon, submit } = world();
    const ids = [{ a: '1' }, { b: '1' }, { a: '1', b: '1' }, { a: '1' }].map((tags) => submit({ tags }));
    expect(workOff(daemon('one', { a: '1', b: '1' }))).toEqual(ids);
  });

  it('lets the seed decide which of several waiting daemons gets a job', () => {
    const winners = new Set(
      Array.from({ length: 20 }, (_, seed) => {
        const { daemon, submit, job } = world({ random: new Random(seed) });
        const waiting = ['aa', 'bb', 'cc'].map((name) => daemon(name));
        for (const connection of waiting) connection.acquire(() => {});
        const winner = job(submit()).workerId;
        return waiting.findIndex(({ id }) => id === winner);
      }),
    );
    expect([...winners].sort()).toEqual([0, 1, 2]);
  });
});

describe('the wake of waiting daemons', () => {
  const X = { x: '1' };
  const USER = { scope: 'user', owner: 'aaa' };
  /** Seconds that a new job waits in 100 worlds; daemons came 10 s before. Undefined: it waits on. */
  const waits = (
    daemons: readonly Tags[],
    jobs: readonly Tags[],
    options: Partial<CoderdOptions> = {},
  ): readonly (number | undefined)[] => {
    const seen = Array.from({ length: 100 }, (_, seed) => {
      const { daemon, submit, job, later, model } = world({ ...options, psk: 'p', random: new Random(seed) });
      const token = model.addToken({ canRead: [], isOwner: true, user: model.addUser() });
      for (const [n, tags] of daemons.entries()) {
        const isOfUser = tags.scope === 'user';
        const one = isOfUser
          ? model.connect({ token, tags: { ...tags, owner: '' }, name: `u${n}`, version: 'v2.15.0' })
          : daemon(`d${n}`, tags);
        one.acquire(() => {});
      }
      later(10 * SECOND);
      const ids = jobs.map((tags) => submit({ tags }));
      later(60 * SECOND);
      return ids.map((id) => {
        const { startedAt, createdAt } = job(id);
        return startedAt === undefined ? undefined : (startedAt - createdAt) / SECOND;
      });
    });
    return [...new Set(seen.flat())].sort((a, b) => (a ?? 99) - (b ?? 99));
  };

  const rows: readonly {
    daemons: readonly Tags[];
    jobs: readonly Tags[];
    replicas?: number;
    waits: readonly (number | undefined)[];
    because: string;
  }[] = [
    { daemons: [{}, {}], jobs: [{}], waits: [0], because: 'the only domain is woken' },
    { daemons: [{}, X], jobs: [{}], waits: [0, 20], because: 'the tagged domain may be woken in vain' },
    { daemons: [{}, X], jobs: [X], waits: [0], because: 'the untagged domain lacks the tag' },
    { daemons: [X, { ...X, y: '1' }], jobs: [X], waits: [0], because: 'both domains may run it' },
    {
      daemons: [X, { ...X, y: '1' }],
      jobs: [X, X],
      waits: [0, 20],
      because: 'both postings may meet one daemon, whose query is in flight',
    },
    { daemons: [X, X], jobs: [X, X], waits: [0], because: 'after a job the next daemon of the domain asks' },
    { daemons: [{}, USER], jobs: [{}], waits: [0], because: 'the scopes differ' },
    {
      daemons: [{}, {}, X],
      jobs: [{}],
      replicas: 2,
      waits: [0, 20],
      because: 'each replica wakes one domain, and one may have both tagged and untagged daemons',
    },
  ];
  it.each(rows)('lets jobs $jobs beside daemons $daemons wait $waits s: $because', (row) => {
    expect(waits(row.daemons, row.jobs, { replicas: row.replicas ?? 1 })).toEqual(row.waits);
  });

  it('needs no posting for a daemon that comes alone or whose build ends', () => {
    const { daemon, submit, job, later } = world();
    daemon('tagged', X).acquire(() => {});
    const id = submit();
    later(7 * SECOND);
    daemon('new').acquire(() => {});
    expect(job(id)).toMatchObject({ startedAt: START + 7 * SECOND });
  });

  it('gives a waiting job to no daemon that joins waiting ones, until they poll', () => {
    const missed = Array.from({ length: 20 }, (_, seed) => {
      const { daemon, submit, job, later } = world({ random: new Random(seed) });
      daemon('untagged').acquire(() => {});
      daemon('tagged', X).acquire(() => {});
      const id = submit();
      if (job(id).startedAt !== undefined) return undefined;
      later(7 * SECOND);
      daemon('new').acquire(() => {});
      later(60 * SECOND);
      return job(id).startedAt;
    });
    expect([...new Set(missed)]).toEqual(expect.arrayContaining([undefined, START + 30 * SECOND]));
    expect(new Set(missed).size).toBe(2);
  });
});

describe('job completion', () => {
  it('distinguishes success, failure, interruption and cancellation', () => {
    const { daemon, submit, job, model, later } = world();
    const connection = daemon('one');
    const end = (result: 'succeeded' | 'failed' | 'canceled', cancelled: boolean) => {
      const id = submit();
      connection.acquire(() => {});
      if (cancelled) model.cancelJob(id);
      later(SECOND);
      connection.complete(id, result);
      const { status, failedBy } = job(id);
      return { status, failedBy };
    };
    expect(end('succeeded', false)).toEqual({ status: 'succeeded', failedBy: undefined });
    expect(end('failed', false)).toEqual({ status: 'failed', failedBy: 'reported' });
    expect(end('canceled', false)).toEqual({ status: 'failed', failedBy: 'reported' });
    expect(end('canceled', true)).toEqual({ status: 'failed', failedBy: 'reported' });
    expect(end('succeeded', true)).toEqual({ status: 'canceled', failedBy: undefined });
  });

  it('refuses to complete a job that the daemon does not have', () => {
    const { daemon, submit, job } = world();
    const [owner, other] = [daemon('one'), daemon('two')];
    const id = submit();
    owner.acquire(() => {});
    other.complete(id, 'failed');
    expect(job(id).status).toBe('running');
    expect(() => owner.complete('unknown' as JobId, 'succeeded')).toThrow(/there is none/);
  });

  it('refuses to complete a job twice', () => {
    const { daemon, submit, job } = world();
    const connection = daemon('one');
    const id = submit();
    connection.acquire(() => {});
    connection.complete(id, 'succeeded');
    connection.complete(id, 'failed');
    expect(job(id)).toMatchObject({ status: 'succeeded', completedAt: START });
  });
});

describe('job cancellation', () => {
  it('ends a pending job at once', () => {
    const { submit, model, job } = world();
    const id = submit();
    model.cancelJob(id);
    expect(job(id)).toMatchObject({
      status: 'canceled',
      canceledAt: START,
      completedAt: START,
      startedAt: undefined,
    });
  });

  it('keeps a running job in canceling until its daemon completes it', () => {
    const { daemon, submit, model, job } = world();
    const connection = daemon('one');
    const id = submit();
    connection.acquire(() => {});
    model.cancelJob(id);
    expect(job(id)).toMatchObject({ status: 'canceling', completedAt: undefined });
    connection.complete(id, 'succeeded');
    expect(job(id).status).toBe('canceled');
  });

  it('refuses jobs that have ended, were cancelled before, or do not exist', () => {
    const { daemon, submit, model } = world();
    const [pending, done, canceling] = [submit(), submit(), submit()];
    model.cancelJob(pending);
    expect(() => model.cancelJob(pending)).toThrow('Job has already completed!');
    expect(() => model.cancelJob('x' as JobId)).toThrow(expect.objectContaining({ status: 404 }));
    const connection = daemon('one');
    for (const id of [pending, done]) {
      connection.acquire(() => {});
      connection.complete(id, 'succeeded');
    }
    expect(() => model.cancelJob(done)).toThrow(expect.objectContaining({ status: 400 }));
    connection.acquire(() => {});
    model.cancelJob(canceling);
    expect(() => model.cancelJob(canceling)).toThrow('Job has already been marked as canceled!');
  });

  it('still hands over a job that was cancelled while pending before 2.31.1, for one update', () => {
    const { daemon, submit, model, job } = world({ version: 'v2.31.0' });
    const [cancelled, next] = [submit(), submit()];
    model.cancelJob(cancelled);
    const given: AcquiredJob[] = [];
    const connection = daemon('one');
    connection.acquire((acquired) => given.push(acquired));
    expect(given).toEqual([{ id: cancelled, durationMs: 500, willFail: false }]);
    connection.complete(cancelled, 'canceled');
    connection.acquire((acquired) => given.push(acquired));
    expect(given[1]?.id).toBe(next);
    expect(job(cancelled)).toMatchObject({ status: 'canceled', workerId: connection.id, startedAt: START });
  });

  it('never hands over a cancelled job from 2.31.1 on', () => {
    const { daemon, submit, model } = world({ version: 'v2.31.1' });
    const [cancelled, next] = [submit(), submit()];
    model.cancelJob(cancelled);
    expect(workOff(daemon('one'))).toEqual([next]);
  });
});

describe('tags and organizations', () => {
  const rows: readonly { daemon: Tags; job: Tags; runs: boolean; because: string }[] = [
    { daemon: {}, job: {}, runs: true, because: 'an untagged daemon runs untagged jobs' },
    { daemon: { env: 'a' }, job: {}, runs: false, because: 'a tagged daemon runs no untagged job' },
    { daemon: {}, job: { env: 'a' }, runs: false, because: 'the daemon lacks the tag' },
    {
      daemon: { env: 'a', dc: 'x' },
      job: { env: 'a' },
      runs: true,
      because: 'the daemon may have more tags',
    },
    {
      daemon: { env: 'a' },
      job: { env: 'a', dc: 'x' },
      runs: false,
      because: 'the job has a tag that the daemon lacks',
    },
    { daemon: { dc: 'new_york' }, job: { dc: 'chicago' }, runs: false, because: 'the values differ' },
    { daemon: { env: 'A' }, job: { env: 'a' }, runs: false, because: 'values are case-sensitive' },
    { daemon: {}, job: { scope: 'user', owner: 'aaa' }, runs: false, because: 'the scopes differ' },
    {
      daemon: { scope: 'user', owner: 'aaa' },
      job: { scope: 'user', owner: 'aaa' },
      runs: false,
      because: 'a user-scoped key gets the nil owner',
    },
    { daemon: { scope: 'odd' }, job: {}, runs: true, because: 'an unknown scope means organization' },
  ];
  it.each(rows)(
    'decides $runs for daemon tags $daemon and job tags $job: $because',
    ({ daemon: tags, job: jobTags, runs }) => {
      const { daemon, submit } = world();
      const id = submit({ tags: jobTags });
      expect(workOff(daemon('one', tags))).toEqual(runs ? [id] : []);
    },
  );

  it('hands out no job of another organization', () => {
    const { daemon, submit } = world();
    submit({ organization: 'data' });
    expect(workOff(daemon('one'))).toEqual([]);
  });

  it('agrees with an independent statement of the rule on 1,000 random tag sets', () => {
    const pairs = (tags: Tags): readonly string[] =>
      Object.entries({ scope: 'organization', owner: '', ...tags }).map((pair) => pair.join('='));
    const runs = (daemonTags: Tags, jobTags: Tags): boolean => {
      const [have, want] = [pairs(daemonTags), pairs(jobTags)];
      const missing = want.filter((pair) => !have.includes(pair));
      return missing.length === 0 && (want.length > 2 || have.length === 2);
    };
    for (let seed = 1; seed <= 1_000; seed++) {
      const random = new Random(seed);
      const tags = (): Tags =>
        Object.fromEntries(
          ['env', 'dc', 'os'].flatMap((name) =>
            random.next() < 0.5 ? [] : [[name, random.pick(['1', '2']) ?? '']],
          ),
        );
      const { daemon, submit } = world();
      const [daemonTags, jobTags] = [tags(), tags()];
      const id = submit({ tags: jobTags });
      const expected = runs(daemonTags, jobTags) ? [id] : [];
      expect(workOff(daemon('one', daemonTags)), `seed ${seed}`).toEqual(expected);
    }
  });
});

describe('built-in daemons', () => {
  it('run untagged jobs of the default organization, one at a time', () => {
    const { model, submit, job, later } = world({ organizations: ['coder', 'data'] });
    model.addBuiltInDaemons(1);
    const ids = [submit({ organization: 'coder' }), submit({ organization: 'coder', willFail: true })];
    const others = [submit({ organization: 'data' }), submit({ organization: 'coder', tags: { env: 'a' } })];
    later(59 * SECOND);
    expect(ids.map((id) => job(id).status)).toEqual(['running', 'pending']);
    later(62 * SECOND);
    expect(ids.map((id) => job(id).status)).toEqual(['succeeded', 'failed']);
    expect(others.map((id) => job(id).status)).toEqual(['pending', 'pending']);
    expect(model.daemons()).toMatchObject([
      { keyName: 'built-in', keyId: '00000000-0000-0000-0000-000000000001' },
    ]);
  });
});

describe('the speed of the simulated coderd', () => {
  it('is enough for 25,000 builds of a week in seconds', () => {
    const [builds, week] = IS_FULL ? [25_000, 7 * 24 * 3_600 * SECOND] : [2_500, 17 * 3_600 * SECOND];
    const { model, daemon, submit, timeline, later } = world();
    const work =
      (connection: DaemonConnection) =>
      (job: AcquiredJob): void => {
        timeline.after(job.durationMs, () => {
          connection.complete(job.id, 'succeeded');
          connection.acquire(work(connection));
        });
      };
    for (let n = 0; n < 20; n++) {
      const connection = daemon(`daemon-${n}`, { env: String(n % 4) });
      connection.acquire(work(connection));
    }
    for (let n = 0; n < builds; n++)
      timeline.after(Math.floor((n * week) / builds), () =>
        submit({ tags: { env: String(n % 4) }, durationMs: 120 * SECOND }),
      );
    later(week + 3_600 * SECOND);
    expect(model.jobs().filter(({ status }) => status === 'succeeded')).toHaveLength(builds);
  });
});
