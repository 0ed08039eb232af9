import { describe, expect, it } from 'vitest';
import { type EpochMs, type OrganizationId, plusMs } from '../../lambda/decision/model/brands.ts';
import { HOUR_MS as HOUR, MINUTE_MS as MINUTE } from '../../lambda/decision/model/units.ts';
import {
  deploymentOf,
  keyName,
  madeFor,
  poolOfKey,
  readState,
  writeState,
} from '../../lambda/keys/model/pool.ts';
import { chooseKey, type Held } from '../../lambda/keys/rules/choose-key.ts';
import { judgeKey, type PoolSecretFacts, type RetireFacts } from '../../lambda/keys/rules/retire-key.ts';
import { inTurn } from '../../lambda/keys/steps/pools.ts';
import { START } from '../support/lab.ts';
import { table } from '../support/table.ts';
import { CPU } from './key-lab.ts';

/** The sweeps until each of `count` pools had its turn, if a sweep takes `most` of them. */
function sweepsUntilAll(count: number, most: number, start: EpochMs): number {
  const pools = Array.from({ length: count }, (_, index) => index);
  const seen = new Set<number>();
  let sweeps = 0;
  for (; seen.size < count; sweeps += 1)
    for (const pool of inTurn(pools, plusMs(start, sweeps * 900_000)).slice(0, most)) seen.add(pool);
  return sweeps;
}

it.each([1, 2, 7, 42, 100])('takes each of %i pools within three times the fewest sweeps', (count) => {
  for (let most = 1; most <= count; most += 1)
    for (let day = 0; day < 10; day += 1) {
      const sweeps = sweepsUntilAll(count, most, plusMs(START, day * 86_400_000));
      expect(sweeps, `${most} a sweep, day ${day}`).toBeLessThanOrEqual(3 * Math.ceil(count / most));
    }
});

const ORG = 'org-1' as OrganizationId;
const WANTED = { organization: ORG, tags: { environment: 'on-prem' } };

const known = (id: string, tags: Record<string, string>, organization = ORG): Held => ({
  kind: 'known',
  facts: { id, name: id, organization, tags, createdAt: 0 as EpochMs },
});
const HELD = {
  none: { kind: 'nothing' },
  garbage: { kind: 'garbage' },
  refused: { kind: 'refused' },
  good: known('good', { environment: 'on-prem' }),
  normal: known('normal', { environment: 'on-prem', scope: 'organization', owner: '' }),
  tags: known('tags', { environment: 'cloud' }),
  more: known('more', { environment: 'on-prem', size: 'large' }),
  org: known('org', { environment: 'on-prem' }, 'org-2' as OrganizationId),
  old: known('old', { environment: 'on-prem' }),
} as const satisfies Record<string, Held>;

describe('the key of a pool', () => {
  it.each([
    { current: 'good', previous: 'none', expected: 'keep good', because: 'it works' },
    { current: 'normal', previous: 'none', expected: 'keep normal', because: 'coderd adds scope and owner' },
    { current: 'none', previous: 'none', expected: 'make nothing', because: 'the stack is new' },
    { current: 'none', previous: 'old', expected: 'make nothing', because: 'nobody switched away from it' },
    {
      current: 'garbage',
      previous: 'old',
      expected: 'make garbage',
      because: 'the old key may be retired on purpose',
    },
    {
      current: 'refused',
      previous: 'old',
      expected: 'make refused',
      because: 'a deleted key may have leaked, and the old one too',
    },
    { current: 'tags', previous: 'old', expected: 'take-back old', because: 'a rollback restores the tags' },
    {
      current: 'org',
      previous: 'old',
      expected: 'take-back old',
      because: 'a rollback restores the organization',
    },
    { current: 'tags', previous: 'more', expected: 'make other-tags', because: 'neither has the tags' },
    { current: 'tags', previous: 'refused', expected: 'make other-tags', because: 'the old one is deleted' },
    { current: 'more', previous: 'none', expected: 'make other-tags', because: 'more tags take other jobs' },
    {
      current: 'org',
      previous: 'none',
      expected: 'make other-organization',
      because: 'a key serves one organization',
    },
  ] as const)(
    'is chosen with $current, before it $previous: $expected, because $because',
    ({ current, previous, expected }) => {
      const choice = chooseKey(HELD[current], HELD[previous], WANTED);
      expect(`${choice.do} ${choice.do === 'make' ? choice.because : choice.facts.id}`).toBe(expected);
    },
  );
});

describe('the name of a key', () => {
  const deployment = deploymentOf(
    'My_Very-Long-Stack-Name',
    'arn:aws:cloudformation:eu-central-1:1:stack/x/1',
  );

  it('has the stack, a hash of its ARN, the pool and the random part, within 64 characters', () => {
    const name = keyName(deployment, 'p'.repeat(30), 'abcd1234');
    expect(name).toMatch(/^myvery-long-st-[0-9a-f]{8}-p{30}-abcd1234$/);
    expect(name.length).toBeLessThanOrEqual(64);
  });

  it.each([
    { name: `${deployment.id}-cpu-abcd1234`, pool: 'cpu' },
    { name: `${deployment.id}-gpu-eu-abcd1234`, pool: 'gpu-eu' },
    { name: `${deployment.id}-cpu-abcd12345`, pool: undefined },
    { name: `${deployment.id}-cpu-ABCD1234`, pool: undefined },
    { name: `${deployment.id}-cpu`, pool: undefined },
    { name: `${deployment.id}abcd1234`, pool: undefined },
    { name: `x${deployment.id}-cpu-abcd1234`, pool: undefined },
    { name: 'cpu-abcd1234', pool: undefined },
  ])('tells of $name that its pool is $pool', ({ name, pool }) => {
    expect(poolOfKey(deployment, name)).toBe(pool);
  });

  it('differs between two stacks of one name', () => {
    expect(deploymentOf('Stack', 'arn:aws:1').id).not.toBe(deploymentOf('Stack', 'arn:aws:2').id);
  });
});

describe('the pool of a key', () => {
  const deployment = deploymentOf('Stack', 'arn:aws:1');
  const { id } = deployment;
  it.each([
    { name: `${id}-cpu-abcd1234`, expected: 'cpu' },
    { name: `${id}-big-gpu-abcd1234`, expected: 'big-gpu' },
    { name: `${id}-cpu-abcd1234-by-hand`, expected: undefined },
    { name: `${id}-cpu-abcd1234 by hand`, expected: undefined },
    { name: `mine-${id}-cpu-abcd1234`, expected: undefined },
    { name: `${id}-cpu-abc`, expected: undefined },
  ])('named $name is $expected', ({ name, expected }) => {
    expect(poolOfKey(deployment, name)).toBe(expected);
  });
});

describe('tags of the secret', () => {
  it('tell the state of the resource', () => {
    expect(readState({})).toBeUndefined();
    const state = { is: 'deleted', request: 'r-1', ended: 'r-2' } as const;
    expect(readState({ 'coder-autoscaler:key-resource': writeState(state) })).toEqual(state);
  });

  it('are equal for tags in another order and spellings of one URL, and differ for another organization or URL', () => {
    const pool = { ...CPU, organization: 'data', tags: { a: '1', b: '2' } };
    const same = { organization: 'Data', tags: { b: '2', a: '1' }, coderUrl: 'https://CODER.example.com/' };
    expect(madeFor({ ...pool, ...same })).toBe(madeFor(pool));
    const others = [{ organization: 'ops' }, { coderUrl: 'https://other.example.com' }];
    for (const other of others) expect(madeFor({ ...pool, ...other })).not.toBe(madeFor(pool));
  });
});

const NOW = Date.parse('2026-03-02T09:00:00Z');
const ago = (ms: number): EpochMs => (NOW - ms) as EpochMs;
const DEPLOYMENT = deploymentOf('Stack', 'arn:aws:1');
const OTHER = deploymentOf('Stack', 'arn:aws:2');

const SECRET: PoolSecretFacts = {
  secretId: 'arn:secret',
  changedAt: ago(HOUR),
  current: new Set(['new']),
  pending: new Set(['next']),
  previous: new Set(['old']),
  inDoubt: false,
};

type Change = Partial<RetireFacts> & { readonly secret?: Partial<PoolSecretFacts> | null };

function world(change: Change): RetireFacts {
  const { secret, ...rest } = change;
  return {
    deployment: DEPLOYMENT,
    now: ago(0),
    coderNow: ago(0),
    pools: new Map([['cpu', secret === null ? undefined : { ...SECRET, ...secret }]]),
    tasks: new Map([['cpu', []]]),
    daemons: { items: [], now: ago(0) },
    ...rest,
  };
}

const aKey = (id: string, name = keyName(DEPLOYMENT, 'cpu', 'abcd1234'), ageMs = 48 * HOUR) => ({
  id,
  name,
  organization: 'org' as OrganizationId,
  tags: {},
  createdAt: ago(ageMs),
});

/** A key of a pool that the configuration does not have. */
const ofGonePool = (ageMs?: number) => aKey('x', keyName(DEPLOYMENT, 'gone', 'abcd1234'), ageMs);

const daemon = (keyId: string, seenMs: number, name = 'cpu-1') => ({ name, keyId, lastSeenAt: ago(seenMs) });
const daemons = (...items: ReturnType<typeof daemon>[]) => ({ items, now: ago(0) });
const tasks = (...createdMs: number[]) =>
  new Map([['cpu', createdMs.map((ms, index) => ({ id: String(index + 1), createdAt: ago(ms) }))]]);

type Row = {
  /** @default the previous key */
  readonly key?: ReturnType<typeof aKey>;
  readonly change?: Change;
  readonly expected: string;
  readonly because: string;
};

describe('a key that coderd lists', () => {
  it.each(table<Row>`
    key                       | change                                              | expected         | because
                              |                                                     | unused           | no task and no daemon has it
    ${aKey('new')}            |                                                     | current          | tasks that start now get it
    ${aKey('next')}           |                                                     | pending          | a rotation has stored it
    ${aKey('new')}            | ${{ secret: { inDoubt: true } }}                    | current          | that is certain in any doubt
    ${aKey('x', keyName(OTHER, 'cpu', 'abcd1234'))} |                                                     | foreign          | another stack made it
    ${aKey('old', 'by-hand')} |                                                     | foreign          | a person made it, even if our secret has it
                              | ${{ secret: { inDoubt: true } }}                    | in-doubt         | an unreadable version may hold it
                              | ${{ secret: null }}                                 | in-doubt         | the secret could not be read
                              | ${{ tasks: undefined }}                             | in-doubt         | the tasks are unknown
                              | ${{ tasks: new Map() }}                             | in-doubt         | the pool has no service
                              | ${{ daemons: undefined }}                           | in-doubt         | the daemons are unknown
                              | ${{ secret: { changedAt: ago(10 * MINUTE - 1) } }}  | too-young        | a task that is created now may still have read it
                              | ${{ secret: { changedAt: ago(10 * MINUTE) } }}      | unused           | 10 minutes are inclusive
    ${aKey('x', undefined, 24 * HOUR - 1)} |                                                     | too-young        | an orphan is kept for 24 hours
    ${aKey('x', undefined, 24 * HOUR)} |                                                     | unused           | a crash left it a day ago
    ${aKey('old', undefined, 2 * HOUR)} |                                                     | unused           | a previous key is no orphan
                              | ${{ tasks: tasks(2 * HOUR) }}                       | in-use-by-a-task | the task is older than the switch
                              | ${{ tasks: tasks(50 * MINUTE + 1) }}                | in-use-by-a-task | it began within 10 minutes of the switch
                              | ${{ tasks: tasks(50 * MINUTE) }}                    | unused           | it began after that
                              | ${{ tasks: tasks(55 * MINUTE), daemons: daemons(daemon('new', 5 * MINUTE)) }} | unused           | the daemon of that task shows the new key
                              | ${{ tasks: tasks(2 * HOUR, 2 * HOUR), daemons: daemons(daemon('new', 0, 'cpu-2')) }} | in-use-by-a-task | only one of two tasks shows the new key
                              | ${{ tasks: tasks(2 * HOUR), daemons: daemons(daemon('x', 0)) }} | in-use-by-a-task | the key of that daemon is not the current one
                              | ${{ daemons: daemons(daemon('old', 10 * MINUTE - 1)) }} | in-use-by-a-daemon | the daemon may come back, though its task is gone
                              | ${{ daemons: daemons(daemon('old', 10 * MINUTE)) }} | unused           | 10 minutes are over
                              | ${{ daemons: daemons(daemon('new', 0)) }}           | unused           | daemons with other keys do not matter
    ${ofGonePool(23 * HOUR)}  |                                                     | too-young        | its pool is new, or was removed today
    ${ofGonePool()}           | ${{ daemons: daemons(daemon('x', 23 * HOUR)) }}     | in-use-by-a-daemon | its pool has another way to authenticate now, and builds last for 17 hours
    ${ofGonePool()}           |                                                     | unused           | its pool was removed
    ${ofGonePool()}           | ${{ daemons: undefined }}                           | in-doubt         | the daemons are unknown
  `)('is $expected: $because', ({ key = aKey('old'), change = {}, expected }) => {
    expect(judgeKey(key, world(change))).toBe(expected);
  });
});
