/** The delay until the next look. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../lambda/decision/decide.ts';
import type { OrganizationId, ServiceArn } from '../../lambda/decision/model/brands.ts';
import type { PoolConfig } from '../../lambda/decision/model/config.ts';
import type { Job, Service, Snapshot } from '../../lambda/decision/model/snapshot.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import { UNKNOWN_RULE } from '../../lambda/decision/stock/replay.ts';
import { ago, aJob, arnOf, aTask, jobId, MINUTE, poolName, reading, SECOND } from '../support/parts.ts';
import { all, type Change, listIs, planOf } from '../support/planned.ts';
import {
  buildAt,
  comingEvery,
  deliberateOn,
  PREBUILDS_USER,
  type Stocked,
  stocked,
} from '../support/stocked.ts';
import { table } from '../support/table.ts';

const SOON = 10_000;
const NEXT = 60_000;

describe('the delay until the next look', () => {
  it.each(table<{ scenario: string; world: string; expected: number; because: string }>`
    world                          | expected | because
    cpu                            | ${NEXT}  | the next invocation is early enough
    cpu B                          | ${NEXT}  | it works, and no job waits
    cpu; job                       | ${SOON}  | a task starts for it
    cpu P                          | ${SOON}  | a daemon is about to come
    cpu L                          | ${SOON}  | its room will be free soon
    cpu X                          | ${SOON}  | the count follows
    cpu I30m                       | ${SOON}  | the plan acts
    cpu I2m, idleTimeout 3m        | ${SOON}  | it may drain before the next minute
    cpu I30m, min 1                | ${NEXT}  | it stays
    cpu; start in 120s  | ${SOON}  | its daemon starts within the next minute
    cpu B; start in 300s           | ${SOON}  | daemons stay for it, and builds that come with it are noticed soon
    cpu; start in 3600s | ${NEXT}  | there is time
    cpu; stop in 3600s  | ${NEXT}  | there is time, and no person waits for a stop
    cpu; stop in 120s   | ${NEXT}  | it is due soon, and no person waits for a stop
    cpu I1m, idleTimeout 3m        | ${NEXT}  | it may drain only after the next minute
    cpu B; stranger; start 74s ago | ${SOON}  | its build may still come
    cpu B; stranger; start 75s ago | ${NEXT}  | coderd should have made its build by now
  `)('is $expected ms with $world, because $because', ({ world, expected }) => {
    expect(planOf(world).lookAgainAfterMs).toBe(expected);
  });
});

it.each(table<{ jobs: number; previous: number; expected: number; because: string }>`
  jobs      | previous | expected  | because
  ${0}      | ${0}     | ${SOON}   | coderd answers at once
  ${900}    | ${0}     | ${SOON}   | looks take a tenth of a core, also if each comes a second too soon
  ${901}    | ${0}     | ${12_000} | five looks a minute take less than a tenth
  ${900}    | ${1_000} | ${20_000} | all lists of jobs add up
  ${0}      | ${1_400} | ${15_000} | jobs by id are such a list
  ${2_500}  | ${0}     | ${30_000} | a third look would take more than a tenth
  ${3_770}  | ${0}     | ${NEXT}   | only the schedule looks
  ${12_600} | ${0}     | ${NEXT}   | the schedule looks, whatever it costs
`)(
  'is $expected ms while a job waits and coderd took $jobs and $previous ms, because $because',
  ({ jobs, previous, expected }) => {
    const plan = planOf(
      'cpu; job',
      all(listIs('jobs', { tookMs: jobs }), listIs('previousJobs', { tookMs: previous })),
    );
    expect(plan.lookAgainAfterMs).toBe(expected);
  },
);

it('is longer than a setting that coderd cannot bear', () => {
  const every5s: Change = (_, config) => {
    config.looks = { every: '5s' };
  };
  const plan = planOf({ pools: { cpu: { tasks: 'P' } } }, all(every5s, listIs('jobs', { tookMs: 1_400 })));
  expect(plan.lookAgainAfterMs).toBe(15_000);
});

it('is a setting while something changes', () => {
  const plan = planOf({ pools: { cpu: { tasks: 'P' } } }, (_, config) => {
    config.looks = { every: '25s' };
  });
  expect(plan.lookAgainAfterMs).toBe(25_000);
});

it('is never more than a minute and never less than the setting', () => {
  const recent = comingEvery({ everyMinutes: 2, forHours: 48 });
  for (const person of [0.01, 0.1, 1, 100])
    for (const idle of [[], [MINUTE], [MINUTE, MINUTE, MINUTE]]) {
      const waiting = { person, autostart: person, prebuild: 0.001, stop: 0.001 };
      const { plan } = deliberateOn({ recent, pools: { cpu: { idle, config: { waiting } } } });
      expect([SOON, NEXT]).toContain(plan.lookAgainAfterMs);
    }
});

it('is not shortened by an unserved job, because a look would change nothing', () => {
  const pending = [aJob({ tags: { cluster: 'none' }, created_at: ago(10 * SECOND) })];
  expect(deliberateOn({ pools: { cpu: {} }, pending }).plan.lookAgainAfterMs).toBe(NEXT);
});

describe('after a build, which others often follow', () => {
  const alone = (given: Partial<Job>, age: number): readonly Job[] => [buildAt(ago(age), 60, given)];

  it.each<{ recent: readonly Job[]; expected: number; because: string }>([
    { recent: alone({}, 10 * MINUTE - SECOND), expected: SOON, because: 'a second wave may come' },
    { recent: alone({ tags: { team: 'none' } }, MINUTE), expected: NEXT, because: 'no pool can run it' },
    { recent: alone({}, 10 * MINUTE), expected: NEXT, because: 'ten minutes have passed' },
    { recent: alone({ initiator_id: PREBUILDS_USER }, MINUTE), expected: NEXT, because: 'coderd made it' },
    {
      recent: alone({ reason: 'autostart', metadata: { workspace_id: 'w' } }, MINUTE),
      expected: NEXT,
      because: 'it was foreseen',
    },
  ])('is $expected ms, because $because', ({ recent, expected }) => {
    expect(deliberateOn({ recent, pools: { cpu: {} } }).plan.lookAgainAfterMs).toBe(expected);
  });
});

describe('before the first build, at the guess of one in two hours', () => {
  const delayOf = (person: number, given: Partial<Stocked> = {}, warm: PoolConfig['warm'] = 'auto') => {
    const waiting = { person, autostart: person, prebuild: 0.001, stop: 0.001 };
    const { snapshot, config } = stocked({
      pools: { cpu: { config: { warm, waiting } }, gpu: { config: { warm, waiting } } },
      ...{ recent: [], ...given },
    });
    return decide({ ...snapshot, canHandOver: true }, { ...config, looks: { everyMs: 'auto' } })
      .lookAgainAfterMs;
  };

  it.each([
    { person: 0.005, expected: NEXT },
    { person: 0.02, expected: 30_000 },
    { person: 0.1, expected: SOON },
    { person: 1, expected: 5_000 },
  ])('is $expected ms if a minute of a person costs $person dollars', ({ person, expected }) => {
    expect(delayOf(person)).toBe(expected);
  });

  const tags = normalizeTags({ team: 'old' });
  it.each<{ given?: Partial<Stocked>; warm?: number; expected?: number; because: string }>([
    {
      given: { organization: { recentJobs: { ...reading([]), status: 'failed' } } },
      because: 'coderd did not tell',
    },
    {
      given: { change: (snapshot) => ({ ...snapshot, coder: { ...snapshot.coder, organizations: [] } }) },
      because: 'no organization is known',
    },
    {
      given: { recent: [buildAt(ago(90 * MINUTE))] },
      expected: 30_000,
      because: 'what was learned of a build counts',
    },
    {
      given: {
        change: (snapshot) => ({
          ...snapshot,
          stock: {
            choices: [],
            tagSets: [
              { organizationId: 'org-default' as OrganizationId, tags, lastBuildAt: ago(90 * MINUTE) },
            ],
          },
        }),
      },
      because: 'an earlier process has seen one',
    },
    { warm: 0, because: 'no pool learns from builds' },
  ])('is not that of the guess, because $because', ({ given, warm, expected = NEXT }) => {
    expect(delayOf(0.1, given, warm)).toBe(expected);
  });
});

describe('with looks.every: auto', () => {
  const recent = comingEvery({ everyMinutes: 2, forHours: 48, lastMinutesAgo: 10 });

  /** The delay of a pool whose builds wait for so many dollars an hour. */
  function delayOf({
    waiting,
    canHandOver = true,
    previous = 0,
    pending = [],
    everyMs = 'auto',
    ...given
  }: Given) {
    const change = (snapshot: Snapshot): Snapshot => {
      const coder = {
        ...snapshot.coder,
        organizations: snapshot.coder.organizations.map((organization) => ({
          ...organization,
          previousJobs: reading(
            Array.from({ length: previous }, (_, index) => aJob({ id: jobId(`previous-${index}`) })),
          ),
        })),
      };
      const [organization] = coder.organizations;
      if (organization === undefined) return snapshot;
      const choice = {
        ...{ organizationId: organization.id, pools: [poolName('cpu')], rule: UNKNOWN_RULE },
        ...{ builds: 100, hours: 48, tasks: 0, waiting, waitingNow: given.waitingNow, others: [] },
      };
      const { services, tasks } = snapshot.ecs;
      const [service] = services.items;
      const others = Array.from({ length: (given.services ?? 1) - 1 }, (_, index) => ({
        ...{
          ...service,
          serviceArn: `arn:other-${index}` as ServiceArn,
          serviceName: `other-${index}`,
          tags: [],
        },
      })) as Service[];
      const gone = Array.from({ length: given.tasks ?? 0 }, (_, index) =>
        aTask({ taskArn: arnOf(100 + index), group: 'service:other', lastStatus: 'STOPPED' }),
      );
      const ecs = {
        ...{ ...snapshot.ecs, ownsCluster: given.ownsCluster },
        services: reading([...services.items, ...others]),
        tasks: reading([...tasks.items, ...gone]),
      };
      return { ...snapshot, coder, ecs, canHandOver, stock: { tagSets: [], choices: [choice] } };
    };
    const { snapshot, config } = stocked({ recent, pending, pools: { cpu: {} }, change });
    const pools = Array.from({ length: given.pools ?? 1 }, (_, index) =>
      config.pools.map((pool) => ({
        ...{ ...pool, name: poolName(`${pool.name}${index || ''}`), tags: { pool: `${index}` } },
        ...(index === 0 && { tags: pool.tags }),
      })),
    ).flat();
    return decide(snapshot, { ...config, pools, looks: { everyMs } }).lookAgainAfterMs;
  }
  type Given = {
    readonly waiting: number;
    readonly canHandOver?: boolean;
    readonly previous?: number;
    readonly pending?: readonly Job[];
    readonly everyMs?: number | 'auto';
    readonly waitingNow?: number;
    /** Of the cluster. @default that of the pool */
    readonly services?: number;
    /** Stopped ones. @default 0 */
    readonly tasks?: number;
    readonly ownsCluster?: boolean;
    /** Of the configuration; all but one have no service yet. @default 1 */
    readonly pools?: number;
  };

  it.each<Given & { readonly expected: number; readonly because: string }>([
    { waiting: 0, expected: NEXT, because: 'nothing waits for looks' },
    { waiting: 0.0015, expected: NEXT, because: 'further looks cost more' },
    { waiting: 0.006, expected: 30_000, because: 'one more look a minute costs $0.0009 an hour' },
    { waiting: 0.02, expected: 20_000, because: 'a third look a minute costs as much' },
    { waiting: 0.06, expected: 10_000, because: 'looks cost $0.005 an hour more' },
    { waiting: 0.06, pools: 3, expected: 10_000, because: 'the log of two more pools costs less' },
    { waiting: 0.06, pools: 4, expected: 20_000, because: 'the log of each pool costs' },
    { waiting: 0.06, services: 9, expected: 20_000, because: 'a list of tasks for each pool costs more' },
    { waiting: 0.06, services: 9, ownsCluster: true, expected: 10_000, because: 'two lists have all tasks' },
    { waiting: 0.06, tasks: 2_000, expected: 20_000, because: 'many tasks take more calls' },
    { waiting: 0.05, canHandOver: false, expected: NEXT, because: 'invocations that wait cost $0.018' },
    { waiting: 0.12, canHandOver: false, expected: 10_000, because: 'waiting costs more than that' },
    { waiting: 0.5, expected: 5_000, because: 'looks every 5 s cost $0.005 more' },
    { waiting: 3, expected: 2_000, because: 'looks every 2 s cost $0.015 more' },
    { waiting: 3, waitingNow: 0, expected: NEXT, because: 'no build is expected now' },
    { waiting: 0, waitingNow: 3, expected: 2_000, because: 'many builds are expected now' },
    { waiting: 3, previous: 800, expected: 5_000, because: 'coderd accepts 512 requests a minute' },
    {
      waiting: 0.06,
      services: 250,
      ownsCluster: true,
      expected: 20_000,
      because: 'many services take more calls',
    },
    { waiting: 100, services: 20, expected: 5_000, because: 'ECS gives two lists of tasks for each service' },
    { waiting: 100, services: 21, expected: 2_000, because: 'for more services two lists have all tasks' },
    { waiting: 100, tasks: 1_800, expected: 2_000, because: 'ECS accepts 600 calls a minute' },
    { waiting: 100, tasks: 1_801, expected: 5_000, because: 'looks every 2 s would take 630 calls a minute' },
    { waiting: 3, everyMs: 20_000, expected: 20_000, because: 'a number is kept' },
    { waiting: 0, everyMs: 20_000, expected: NEXT, because: 'nothing waits for looks' },
    { waiting: 0, pending: [aJob({})], expected: 10_000, because: 'a task starts' },
    { waiting: 3, pending: [aJob({})], expected: 2_000, because: 'further builds wait for looks' },
  ])(
    'is $expected ms if waiting costs $waiting dollars an hour, because $because',
    ({ expected, ...given }) => {
      expect(delayOf(given)).toBe(expected);
    },
  );
});
