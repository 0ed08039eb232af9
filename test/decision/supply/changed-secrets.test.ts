/** Which tasks have an earlier value of a secret, and when their turn to be replaced comes. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../lambda/decision/decide.ts';
import type { Config, PoolConfig } from '../../../lambda/decision/model/config.ts';
import type { Plan, Reason } from '../../../lambda/decision/model/plan.ts';
import { findSecret, type SecretEntry } from '../../../lambda/decision/model/secrets.ts';
import type { Snapshot } from '../../../lambda/decision/model/snapshot.ts';
import { deriveSupply } from '../../../lambda/decision/supply/supply.ts';
import { markReplaced } from '../../../lambda/decision/turns/rolling.ts';
import { sentenceOf } from '../../../lambda/explain/finding-text.ts';
import { reasonSentence } from '../../../lambda/explain/reason-text.ts';
import {
  aConfig,
  aDaemon,
  ago,
  aLease,
  anOrganization,
  aPool,
  arnOf,
  aService,
  aSnapshot,
  aTask,
  daemonId,
  HOUR,
  jobId,
  MINUTE,
  NOW,
  poolName,
  reading,
  SECOND,
  taskIdOf,
} from '../../support/parts.ts';
import { poolOf } from '../../support/planned.ts';
import { table } from '../../support/table.ts';

/** A working task, created this many minutes ago. */
type Drawn = {
  readonly age: number;
  readonly busy?: true;
  readonly key?: string;
  /** Minutes left on its lease; default 47 h. */
  readonly lease?: number;
  /** Whether its daemon has not registered yet. */
  readonly isStarting?: true;
  /** Whether its daemon was last seen three minutes ago. */
  readonly isOffline?: true;
  /** Whether it holds a lease, and coderd lists no daemon of it. */
  readonly isSilent?: true;
  /** Whether its daemon has the tags of another pool. */
  readonly hasOtherTags?: true;
};

const minutesAgo = (minutes: number) => ago(minutes * MINUTE);

/** A secret whose present value was stored `stored` minutes ago, and the one before it a week ago. */
function aSecret({ stored, changed = stored, previous = 7 * 24 * 60, ...given }: DrawnSecret): SecretEntry {
  return {
    ARN: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:keys/cpu-AbCdEf',
    Name: 'keys/cpu',
    LastChangedDate: minutesAgo(changed),
    Tags: [],
    Versions: [
      { VersionId: 'new', VersionStages: ['AWSCURRENT'], CreatedDate: minutesAgo(stored) },
      { VersionId: 'old', VersionStages: ['AWSPREVIOUS'], CreatedDate: minutesAgo(previous) },
    ],
    ...given,
  };
}

type DrawnSecret = Partial<SecretEntry> & {
  readonly stored: number;
  readonly changed?: number;
  readonly previous?: number;
};

const tags = (keyId: string, pool = 'cpu', stack = 'Stack'): SecretEntry['Tags'] => [
  { Key: 'coder-autoscaler:pool', Value: pool },
  { Key: 'coder-autoscaler:stack', Value: stack },
  { Key: 'coder-autoscaler:key-id', Value: keyId },
];

type World = {
  readonly tasks: readonly Drawn[];
  readonly secrets: readonly SecretEntry[];
  readonly pool?: Partial<PoolConfig>;
};

function worldOf({ tasks, secrets }: World): Snapshot {
  const snapshot = aSnapshot({
    services: [aService({ desiredCount: tasks.length })],
    tasks: tasks.map(({ age, isStarting }, index) =>
      aTask({
        taskArn: arnOf(index),
        createdAt: minutesAgo(age),
        startedAt: isStarting ? ago(20 * SECOND) : minutesAgo(age),
      }),
    ),
    protections: tasks.map(({ lease = 47 * 60 }, index) =>
      aLease({
        taskArn: arnOf(index),
        protectionEnabled: lease > 0,
        expirationDate: ago(-lease * MINUTE),
      }),
    ),
    organizations: [anOrganization({ daemons: reading(tasks.flatMap(daemonOf)) })],
  });
  return { ...snapshot, ecs: { ...snapshot.ecs, stack: 'Stack' }, secrets: reading(secrets) };
}

function daemonOf({ age, busy, key, isStarting, isOffline, isSilent, hasOtherTags }: Drawn, index: number) {
  if (isStarting || isSilent) return [];
  return [
    aDaemon({
      id: daemonId(`d${index}`),
      name: `cpu-${taskIdOf(index)}`,
      created_at: minutesAgo(age),
      last_seen_at: ago(isOffline ? 3 * MINUTE : 20 * SECOND),
      status: busy ? 'busy' : 'idle',
      current_job: busy ? { id: jobId(`j${index}`), status: 'running' } : null,
      ...(key === undefined ? {} : { key_id: key }),
      ...(hasOtherTags ? { tags: { scope: 'organization', owner: '', cluster: 'other' } } : {}),
    }),
  ];
}

/** The tasks whose turn it is, by index in the list. */
function turnsOf(world: World, percent = 100): readonly number[] {
  const [view] = deriveSupply(worldOf(world), aConfig(aPool(world.pool ?? {})));
  if (view === undefined) throw new Error('no pool');
  return markReplaced(view, percent, NOW).tasks.flatMap(({ state }, index) =>
    state === 'replacing' ? [index] : [],
  );
}

const day = (given: Partial<Drawn> = {}): Drawn => ({ age: 24 * 60, ...given });
const young = (given: Partial<Drawn> = {}): Drawn => ({ age: 20, ...given });
const managed: Partial<PoolConfig> = { auth: { kind: 'managed' } };
const psk: Partial<PoolConfig> = { auth: { kind: 'psk', secret: { secret: 'keys/cpu' } } };

const LAST_ROTATED = { LastRotatedDate: minutesAgo(60) };
const createdOnce = (createdMinutesAgo: number): SecretEntry =>
  aSecret({
    stored: 60,
    CreatedDate: minutesAgo(createdMinutesAgo),
    Versions: [{ VersionId: 'a', VersionStages: ['AWSCURRENT'], CreatedDate: minutesAgo(60) }],
  });

/** The list of secrets with the one of the pool. Without a time it changed an hour ago. */
const SECRETS: Readonly<Record<string, readonly SecretEntry[]>> = {
  changed: [aSecret({ stored: 60 })],
  'changed a minute ago': [aSecret({ stored: 1 })],
  'changed two hours ago': [aSecret({ stored: 120 })],
  'created with its value': [createdOnce(60)],
  'created empty': [createdOnce(120)],
  'only tagged': [aSecret({ stored: 7 * 24 * 60, changed: 60, previous: 30 * 24 * 60 })],
  'changed, versions unread': [aSecret({ stored: 60, Versions: undefined })],
  'changed, versions without dates': [
    aSecret({ stored: 60, Versions: [{ VersionId: 'a', VersionStages: ['AWSCURRENT'] }] }),
  ],
  'moved back, seen': [
    aSecret({ stored: 7 * 24 * 60, previous: 180, changed: 60, CurrentSince: minutesAgo(60) }),
  ],
  'moved back, seen, then tagged': [
    aSecret({ stored: 7 * 24 * 60, previous: 180, changed: 30, CurrentSince: minutesAgo(60) }),
  ],
  'moved back, not seen': [aSecret({ stored: 7 * 24 * 60, previous: 180, changed: 60 })],
  'rotated without a new version': [aSecret({ stored: 180, changed: 60, ...LAST_ROTATED })],
  'changed variable': [
    aSecret({ stored: 7 * 24 * 60 }),
    aSecret({ stored: 60, Name: 'terraform/token', ARN: 'arn:aws:secretsmanager:::secret:t-AbCdEf' }),
  ],
  'changed in another pool': [aSecret({ stored: 60, Name: 'keys/cpu-eu' })],
  'no list': [],
  'key b': [aSecret({ stored: 60, Tags: tags('b') })],
  'key b, versions unread': [aSecret({ stored: 60, Tags: tags('b'), Versions: undefined })],
  'key b of another stack': [aSecret({ stored: 60, Tags: tags('b', 'cpu', 'Other') })],
  'no key yet': [aSecret({ stored: 60, Tags: tags('b').slice(0, 2) })],
  'key b, only tagged': [
    aSecret({ stored: 7 * 24 * 60, changed: 60, previous: 30 * 24 * 60, Tags: tags('b') }),
  ],
};

const POOLS: Readonly<Record<string, Partial<PoolConfig>>> = {
  '': {},
  managed,
  psk,
  'with a variable': { secrets: { TF_TOKEN: { secret: 'terraform/token' } } },
  'by its ARN': {
    auth: {
      kind: 'key',
      secret: { secret: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:keys/cpu', jsonKey: 'a' },
    },
  },
};

/** `day busy`, `59m key=a`: a task of this age, and what is special about it. */
function drawnOf(text: string): Drawn {
  const [age = '', ...marks] = text.split(' ');
  const wordOf = (name: string) => marks.find((mark) => mark.startsWith(`${name}=`))?.split('=')[1];
  const [key, lease] = [wordOf('key'), wordOf('lease')];
  return {
    age: age === 'day' ? 24 * 60 : age === 'young' ? 20 : Number.parseInt(age, 10),
    ...(marks.includes('busy') ? { busy: true } : {}),
    ...(marks.includes('offline') ? { isOffline: true } : {}),
    ...(marks.includes('silent') ? { isSilent: true } : {}),
    ...(marks.includes('other-tags') ? { hasOtherTags: true } : {}),
    ...(key === undefined ? {} : { key }),
    ...(lease === undefined ? {} : { lease: Number.parseInt(lease, 10) }),
  };
}

type Row = {
  readonly tasks: string;
  readonly secret: string;
  readonly pool?: string;
  /** The indices of the tasks whose turn it is. */
  readonly expected: string;
  readonly because: string;
};

it.each([
  { secret: 'arn:a-AbCdEf', name: 'a' },
  { secret: 'arn:a', name: 'a' },
  { secret: 'arn:a-AbCdE', name: undefined },
])('finds by $secret the secret $name', ({ secret, name }) => {
  const entries = [{ ARN: 'arn:a-AbCdEf', Name: 'a', Tags: [] }];
  const found = findSecret(entries, { kind: 'key', secret }, { pool: poolName('cpu'), stack: undefined });
  expect(found?.Name).toBe(name);
});

describe('the turn of a task with an earlier value of a secret', () => {
  it.each(table<Row>`
    tasks                          | secret                          | pool            | expected | because
    day, young                     | changed                         |                 | 0        | ECS gives a task its secrets when it starts
    59m, young                     | changed                         |                 | 0        | the change may not have spread by then
    57m                            | changed                         |                 | none     | it has the new value
    day, day                       | changed a minute ago            |                 | none     | a replacement might get the earlier value too
    59m                            | created with its value          |                 | none     | there was no value before the first
    121m, 90m, 61m, 59m, young     | created empty                   |                 | 0        | a task cannot have a value that never was
    day, young                     | created with its value          |                 | 0        | a person deleted the secret and made it anew under its name
    day, young                     | only tagged                     |                 | none     | the value is the same
    day, young                     | changed, versions unread        |                 | none     | what is not known replaces nothing
    day, young                     | changed, versions without dates |                 | none     | the change may be a tag
    120m, young                    | moved back, seen                |                 | 0        | the task has the version that is previous now
    50m, young                     | moved back, seen, then tagged   |                 | none     | the task was created after the move
    11520m, 120m, young            | moved back, not seen            |                 | 0        | the last change may be a tag, and only the first task is older than the present version
    120m, young                    | rotated without a new version   |                 | none     | the value is the same
    day key=a, day, young key=b    | key b, versions unread          | managed         | 0        | the key tells which version a task has, and nothing tells it of the second task
    day, young                     | changed variable                | with a variable | 0        | the tasks get all their secrets at the start
    day, young                     | changed                         | by its ARN      | 0        | a change of any key in the JSON counts
    day                            | changed in another pool         |                 | none     | no task of this pool has it
    day                            | no list                         |                 | none     | nothing tells that a secret changed
    day key=a, young key=b         | key b                           | managed         | 0        | the key tells which version a task has
    day key=b                      | key b                           | managed         | none     | the key decides, not the time
    young key=c                    | key b                           | managed         | none     | the list may be older than the task, and its tag too
    day key=a                      | key b of another stack          | managed         | none     | two stacks may have a pool of one name
    day key=a                      | no key yet                      | managed         | none     | nothing tells which key is the present one
    day, young key=b               | key b                           | managed         | 0        | then the time decides
    day, day busy                  | changed                         | psk             | none     | coderd refuses the new key until it restarts
    day, young offline             | changed                         | psk             | none     | only a daemon that is connected shows that coderd has the new key
    day, young busy                | changed                         | psk             | 0        | coderd has the new key
    day, day, day, day busy        | changed                         |                 | 0        | the new value may be wrong, so one task tries it
    day busy lease=1374m, day, day | changed                         |                 | none     | the value has not been tried yet
    day busy lease=1320m, day, day | changed two hours ago           |                 | 1        | a long build must not keep the old key in use
    day, day, day, day busy, young | changed                         |                 | 0 1 2 3  | the new value works, and all at once is allowed
    day, day, 30m silent           | changed                         |                 | 2        | the new value may be the key of another organization
    day, day, young other-tags     | changed                         |                 | 2        | the new value is the key of another pool
    day, day, 5m other-tags        | changed                         |                 | none     | its key does not work for the pool, and it is too young to be replaced
    day, young                     | key b, only tagged              | managed         | none     | the value is the same
  `)('comes for $expected of $tasks with $secret: $because', ({ tasks, secret, pool = '', expected }) => {
    const [secrets, config] = [SECRETS[secret], POOLS[pool]];
    if (secrets === undefined || config === undefined) throw new Error(`no ${secret} or ${pool}`);
    const world = { tasks: tasks.split(', ').map(drawnOf), secrets, pool: config };
    expect(turnsOf(world).join(' ') || 'none').toBe(String(expected));
  });

  it('comes for a share at a time once the new value works', () => {
    const tasks = [...Array<Drawn>(7).fill(day()), young()];
    expect(turnsOf({ tasks, secrets: [aSecret({ stored: 60 })] }, 25)).toEqual([0, 1]);
  });
});

const planned = (world: World, config: Partial<Config> = {}): Plan =>
  decide(worldOf(world), { ...aConfig(aPool({ idleTimeoutMs: 100 * HOUR, ...world.pool })), ...config });
const oldSecretOf = (plan: Plan): Reason | undefined =>
  poolOf(plan, 'cpu').why.find(({ code }) => code === 'old-secret');
const sentenceOfPlan = (plan: Plan): string => {
  const reason = oldSecretOf(plan);
  return reason === undefined ? 'none' : reasonSentence(reason);
};

describe('the plan for tasks with an earlier value of a secret', () => {
  it('drains a task whose turn it is, and tells how many use the key of which day', () => {
    const tasks = [...Array<Drawn>(3).fill(day()), ...Array<Drawn>(5).fill(young())];
    const plan = planned({ tasks, secrets: [aSecret({ stored: 60 })] }, { roll: { atOncePercent: 1 } });
    expect(plan.actions).toMatchObject([{ kind: 'ask-to-leave', task: arnOf(0), why: 'old-secret' }]);
    expect(oldSecretOf(plan)).toEqual({
      code: 'old-secret',
      tasks: 3,
      of: 8,
      draining: 0,
      asked: 1,
      held: null,
      secret: 'keys/cpu',
      kind: 'key',
      changedAt: '2026-11-20T08:00:00.000Z',
      previousAt: '2026-11-13T09:00:00.000Z',
    });
    expect(sentenceOfPlan(plan)).toBe(
      '3 of 8 tasks still use the key of 13 November 2026: draining 1, 2 wait for their turn',
    );
  });

  it('launches a replacement first, and keeps the old task until its daemon has connected', () => {
    const pool = { min: 2 };
    const secrets = [aSecret({ stored: 60 })];
    const first = planned({ tasks: [day(), day()], secrets, pool });
    expect(first.actions).toMatchObject([{ kind: 'set-desired', from: 2, to: 3 }]);
    const second = planned({ tasks: [day(), day(), { age: 1, lease: 0, isStarting: true }], secrets, pool });
    expect(second.actions).toEqual([]);
    const third = planned({ tasks: [day(), day(), { age: 2 }], secrets, pool });
    expect(third.actions).toMatchObject([{ kind: 'ask-to-leave', why: 'old-secret' }]);
  });

  const starting: Drawn = { age: 1, lease: 0, isStarting: true };
  it.each<{ tasks: readonly Drawn[]; asked: number; because: string }>([
    { tasks: [day(), young(), starting], asked: 0, because: 'of the two of min one is ready without it' },
    { tasks: [day(), young(), young()], asked: 1, because: 'two are ready without it' },
    { tasks: [day(), young()], asked: 0, because: 'a task has to launch in its place' },
  ])('asks $asked old tasks to leave once the new value works, because $because', ({ tasks, asked }) => {
    const { actions } = planned({ tasks, secrets: [aSecret({ stored: 60 })], pool: { min: 2 } });
    expect(actions.filter(({ kind }) => kind === 'ask-to-leave')).toHaveLength(asked);
  });

  it('keeps an idle old task while its replacement has the key of another pool', () => {
    const tasks = [day(), day(), { age: 5, hasOtherTags: true } as const];
    const pool = { min: 2, idleTimeoutMs: MINUTE };
    expect(planned({ tasks, secrets: [aSecret({ stored: 60 })], pool }).actions).toEqual([]);
  });

  it('keeps old tasks while the floor is not ready without them and tasks start', () => {
    const starting: readonly Drawn[] = Array(3).fill({ age: 1, lease: 0, isStarting: true });
    const working: readonly Drawn[] = [...Array<Drawn>(8).fill(day()), young()];
    const roll = { atOncePercent: 50 };
    const secrets = [aSecret({ stored: 60 })];
    const asked = (min: number): readonly string[] =>
      planned({ tasks: [...working, ...starting], secrets, pool: { min } }, { roll }).actions.map(
        ({ why }) => why,
      );
    expect(asked(8)).toEqual([]);
    expect(asked(7)).toEqual(['old-secret', 'old-secret']);
  });

  it('holds tasks while a list could not be read', () => {
    const world = worldOf({ tasks: [day(), young()], secrets: [aSecret({ stored: 60 })] });
    const plan = decide(
      { ...world, ecs: { ...world.ecs, tasks: { ...world.ecs.tasks, status: 'stale' } } },
      aConfig(aPool()),
    );
    expect(plan.actions).toEqual([]);
  });

  it.each([
    { kind: 'psk' as const, expected: 'the pre-shared key of 13 November 2026' },
    { kind: 'token' as const, expected: 'the token of 13 November 2026' },
  ])('calls the secret by what it is: $kind', ({ kind, expected }) => {
    const pool = { auth: { kind, secret: { secret: 'keys/cpu' } } };
    const plan = planned({ tasks: [day(), young()], secrets: [aSecret({ stored: 60 })], pool });
    expect(sentenceOfPlan(plan)).toContain(expected);
  });

  it('dates the change if the version before it is not known', () => {
    const secrets = [aSecret({ stored: 60, Tags: tags('b'), Versions: undefined })];
    const tasks = [day({ key: 'a' }), young({ key: 'b' })];
    expect(sentenceOfPlan(planned({ tasks, secrets, pool: managed }))).toContain(
      'a key from before 20 November 2026 08:00:00 UTC',
    );
  });

  it('is the same as without a list of secrets if no secret has changed', () => {
    const world = worldOf({
      tasks: [day(), day({ busy: true })],
      secrets: [aSecret({ stored: 7 * 24 * 60 })],
    });
    const { secrets: _, ...earlier } = world;
    const config = aConfig(aPool());
    expect(decide(world, config)).toEqual(decide(earlier, config));
  });
});

describe('a finding about a changed secret', () => {
  const codes = (plan: Plan): readonly string[] => plan.findings.map(({ code }) => code);

  it('names the pre-shared key that coderd does not have yet', () => {
    const plan = planned({ tasks: [day()], secrets: [aSecret({ stored: 60 })], pool: psk });
    expect(plan.findings).toEqual([
      {
        code: 'psk-changed',
        pool: 'cpu',
        secret: 'keys/cpu',
        kind: 'psk',
        changedAt: '2026-11-20T08:00:00.000Z',
        previousAt: '2026-11-13T09:00:00.000Z',
      },
    ]);
    expect(sentenceOfPlan(plan)).toContain('replaced once a daemon connects with the new one');
  });

  it('names the tasks that keep an earlier value for more than an hour', () => {
    const tasks = [day({ lease: 22.9 * 60 }), young()];
    expect(codes(planned({ tasks, secrets: [aSecret({ stored: 61 })] }))).toEqual([]);
    expect(planned({ tasks, secrets: [aSecret({ stored: 63 })] }).findings).toMatchObject([
      { code: 'tasks-with-old-secret', pool: 'cpu', tasks: [arnOf(0)], of: 2 },
    ]);
  });

  it.each([
    { status: 'forbidden' as const, minutes: 0, expected: ['secrets-forbidden'] },
    { status: 'failed' as const, minutes: 0, expected: ['secrets-failed'] },
    { status: 'stale' as const, minutes: 14, expected: [] },
    { status: 'stale' as const, minutes: 15, expected: ['secrets-stale'] },
  ])('tells of a list that is $status for $minutes min: $expected', ({ status, minutes, expected }) => {
    const world = worldOf({ tasks: [day(), young()], secrets: [aSecret({ stored: 60 })] });
    const { items } = reading([aSecret({ stored: 60 })]);
    const secrets = { status, error: 'listing: no', takenAt: minutesAgo(minutes), items };
    const plan = decide({ ...world, secrets }, aConfig(aPool()));
    expect(codes(plan)).toEqual(expected);
    // what is known stays true
    expect(oldSecretOf(plan)).toBeDefined();
  });
});

describe('the sentence of a finding about a changed secret', () => {
  const changed = {
    ...({ secret: 'keys/cpu', kind: 'key', pool: poolName('cpu') } as const),
    ...{ changedAt: '2026-11-20T08:00:00.000Z', previousAt: '2026-11-12T09:00:00.000Z' },
  };

  it.each([
    {
      finding: { ...changed, code: 'tasks-with-old-secret', tasks: [arnOf(1)], of: 4 } as const,
      expected: `pool "cpu": 1 of 4 tasks still uses the key of 12 November 2026 (${taskIdOf(1)}). Wait for their builds before you delete the old key. The secret changed at 20 November 2026 08:00:00 UTC. If no build runs there, look for other findings about this pool: a pause, a doubt, failing starts or a pool without a guard keep old tasks`,
    },
    {
      finding: { code: 'secrets-failed', error: 'listing: no answer' } as const,
      expected:
        "could not list the pools' secrets: listing: no answer. A change that it cannot read replaces no task until the list is back",
    },
    {
      finding: { code: 'secrets-stale', takenAt: '2026-11-20T08:00:00.000Z' } as const,
      expected:
        "could not list the pools' secrets since 20 November 2026 08:00:00 UTC. A secret that changed since then replaces no task until the list is back",
    },
  ])('tells what is wrong and what to do: $finding.code', ({ finding, expected }) => {
    expect(sentenceOf(finding)).toBe(expected);
  });
});
