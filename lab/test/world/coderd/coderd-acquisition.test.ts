/** How jobs reach daemons and end (docs/internals/coder.md §4, §5). Which tags fit is in the recordings. */
import { describe, expect, it } from 'vitest';
import type { JobId } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import { table } from '../../../../test/support/table.ts';
import type { AcquiredJob, DaemonConnection } from '../../../world/base/daemon-connection.ts';
import { Random } from '../../../world/base/random.ts';
import type { SubmittedJob } from '../../../world/coderd/model.ts';
import { coderdWorld, SECOND, START } from './coderd-fixture.ts';

const X = { x: '1' };
const Y = { y: '1' };

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

describe('the order of jobs', () => {
  const prebuild = { initiator: 'prebuilds' } as const;
  type Row = {
    readonly jobs: readonly Partial<SubmittedJob>[];
    readonly order: readonly number[];
    readonly version: string;
    readonly because: string;
  };
  const rows = table<Row>`
    jobs                                                             | order           | version | because
    ${[prebuild, {}, prebuild, {}]}                                  | ${[1, 3, 0, 2]} | v2.30.0 | prebuilds come after jobs of people
    ${[{ ...prebuild, tags: X }, { tags: Y }]}                       | ${[1, 0]}       | v2.30.0 | prebuilds come last over all tag sets
    ${[prebuild, {}, prebuild]}                                      | ${[0, 1, 2]}    | v2.24.4 | prebuilds have their turn before 2.25
    ${[{ tags: X }, { tags: Y }, { tags: { ...X, ...Y } }, { tags: X }]} | ${[0, 1, 2, 3]} | v2.30.0 | the oldest comes first over all tag sets that the daemon fits
    ${[{ organization: 'data' }]}                                    | ${[]}           | v2.30.0 | the daemon is of another organization
  `;
  it.each(rows)('is $order in $version: $because', ({ jobs, order, version }) => {
    const { connect, submit } = coderdWorld({ version });
    const ids = jobs.map((job) => submit(job));
    const isUntagged = jobs.every(({ tags = {} }) => Object.keys(tags).length === 0);
    const given = workOff(connect('one', isUntagged ? {} : { ...X, ...Y }));
    expect(given.map((id) => ids.indexOf(id))).toEqual(order);
  });
});

it('gives a new job to one of the waiting daemons, which the seed decides', () => {
  const winners = Array.from({ length: 20 }, (_, seed) => {
    const { connect, submit, model } = coderdWorld({ random: new Random(seed) });
    const got: string[] = [];
    for (const name of ['aa', 'bb', 'cc']) connect(name).acquire(() => got.push(name));
    const id = submit();
    expect(model.job(id)).toMatchObject({ status: 'running', startedAt: START });
    return got.join();
  });
  expect([...new Set(winners)].sort()).toEqual(['aa', 'bb', 'cc']);
});

it('gives a daemon one job at a time, and none once it has withdrawn or closed', () => {
  const { connect, submit, statuses } = coderdWorld();
  const [withdrawn, closed, busy] = [connect('aa'), connect('bb'), connect('cc')];
  for (const connection of [withdrawn, closed]) connection.acquire(() => expect.unreachable());
  withdrawn.cancelAcquire();
  closed.close();
  busy.acquire(() => {});
  expect(() => busy.acquire(() => {})).toThrow(/one job at a time/);
  for (let job = 0; job < 2; job++) submit();
  expect(() => busy.acquire(() => {})).toThrow(/one job at a time/);
  expect(statuses()).toEqual(['running', 'pending']);
  expect(() => closed.acquire(() => {})).toThrow(/closed/);
});

describe('the wake of waiting daemons', () => {
  const USER = { scope: 'user', owner: 'aaa' };
  /** Seconds that a new job waits in 100 worlds; daemons came 10 s before. Undefined: it waits on. */
  const waits = (daemons: readonly Tags[], jobs: readonly Tags[], replicas: number) => {
    const seen = Array.from({ length: 100 }, (_, seed) => {
      const { connect, submit, at, model } = coderdWorld({ replicas, random: new Random(seed) });
      const token = model.addToken({ canRead: [], isOwner: true, user: model.addUser() });
      for (const [n, tags] of daemons.entries()) {
        const one =
          tags.scope === 'user'
            ? model.connect({ token, tags: { ...tags, owner: '' }, name: `u${n}`, version: 'v2.15.0' })
            : connect(`d${n}`, tags);
        one.acquire(() => {});
      }
      at(10 * SECOND);
      const ids = jobs.map((tags) => submit({ tags }));
      at(70 * SECOND);
      return ids.map((id) => {
        const { startedAt, createdAt = 0 } = model.job(id) ?? {};
        return startedAt === undefined ? undefined : (startedAt - createdAt) / SECOND;
      });
    });
    return [...new Set(seen.flat())].sort((a, b) => (a ?? 99) - (b ?? 99));
  };

  type Row = {
    readonly daemons: readonly Tags[];
    readonly jobs: readonly Tags[];
    /** @default 1 */
    readonly replicas?: number;
    readonly waits: readonly number[];
    readonly because: string;
  };
  const rows = table<Row>`
    daemons                 | jobs      | replicas | waits      | because
    ${[{}, {}]}             | ${[{}]}   |          | ${[0]}     | the only domain is woken
    ${[{}, X]}              | ${[{}]}   |          | ${[0, 20]} | the tagged domain may be woken in vain
    ${[{}, X]}              | ${[X]}    |          | ${[0]}     | the untagged domain lacks the tag
    ${[X, { ...X, ...Y }]}  | ${[X]}    |          | ${[0]}     | both domains may run it
    ${[X, { ...X, ...Y }]}  | ${[X, X]} |          | ${[0, 20]} | both postings may meet one daemon, whose query is in flight
    ${[X, X]}               | ${[X, X]} |          | ${[0]}     | after a job the next daemon of the domain asks
    ${[{}, USER]}           | ${[{}]}   |          | ${[0]}     | the scopes differ
    ${[{}, {}, X]}          | ${[{}]}   | 2        | ${[0, 20]} | each replica wakes one domain, and one may have both tagged and untagged daemons
  `;
  it.each(rows)('lets jobs $jobs beside daemons $daemons wait $waits s: $because', (row) => {
    expect(waits(row.daemons, row.jobs, row.replicas ?? 1)).toEqual(row.waits);
  });

  it('gives a waiting job to no daemon that joins waiting ones, until they poll', () => {
    const missed = Array.from({ length: 20 }, (_, seed) => {
      const { connect, submit, model, at } = coderdWorld({ random: new Random(seed) });
      connect('untagged').acquire(() => {});
      connect('tagged', X).acquire(() => {});
      const id = submit();
      if (model.job(id)?.startedAt !== undefined) return undefined;
      at(7 * SECOND);
      connect('new').acquire(() => {});
      at(67 * SECOND);
      return model.job(id)?.startedAt;
    });
    expect(new Set(missed)).toEqual(new Set([undefined, START + 30 * SECOND]));
  });
});

describe('the end of a job', () => {
  it.each([
    { result: 'succeeded', cancelled: false, status: 'succeeded', failedBy: undefined },
    { result: 'failed', cancelled: false, status: 'failed', failedBy: 'reported' },
    { result: 'canceled', cancelled: false, status: 'failed', failedBy: 'reported' },
    { result: 'canceled', cancelled: true, status: 'failed', failedBy: 'reported' },
    { result: 'succeeded', cancelled: true, status: 'canceled', failedBy: undefined },
  ] as const)('is $status if it $result, cancelled before: $cancelled', ({ result, cancelled, ...end }) => {
    const { connect, submit, model } = coderdWorld();
    const connection = connect('one');
    const id = submit();
    connection.acquire(() => {});
    if (cancelled) model.cancelJob(id);
    connection.complete(id, result);
    expect(model.job(id)).toMatchObject(end);
  });

  it('comes once, from the daemon that has the job', () => {
    const { connect, submit, statuses } = coderdWorld();
    const [owner, other] = [connect('aa'), connect('bb')];
    const id = submit();
    owner.acquire(() => {});
    other.complete(id, 'failed');
    expect(statuses()).toEqual(['running']);
    owner.complete(id, 'succeeded');
    owner.complete(id, 'failed');
    expect(statuses()).toEqual(['succeeded']);
  });

  it.each([
    { version: 'v2.31.0', given: [500, 60_000], because: 'a daemon still gets it, for one update' },
    { version: 'v2.31.1', given: [60_000], because: 'no daemon gets it' },
  ])('of a job cancelled while pending, in $version: $because', ({ version, given }) => {
    const { connect, submit, model } = coderdWorld({ version });
    const [cancelled] = [submit(), submit()];
    model.cancelJob(cancelled);
    const connection = connect('one');
    const durations = given.map(() => {
      let took = 0;
      connection.acquire(({ id, durationMs }) => {
        took = durationMs;
        connection.complete(id, 'succeeded');
      });
      return took;
    });
    expect(durations).toEqual(given);
    expect(model.job(cancelled)?.status).toBe('canceled');
  });
});
