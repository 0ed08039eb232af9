import { describe, expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { HOUR_MS as HOUR, MINUTE_MS as MINUTE } from '../../lambda/decision/model/units.ts';
import { deploymentOf, keyName } from '../../lambda/keys/model/key-names.ts';
import { judgeKey, type PoolSecretFacts, type RetireFacts } from '../../lambda/keys/rules/retire-key.ts';
import { table } from '../support/table.ts';

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
