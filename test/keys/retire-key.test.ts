import { describe, expect, it } from 'vitest';
import type { EpochMs, OrganizationId } from '../../lambda/decision/model/brands.ts';
import { HOUR_MS as HOUR, MINUTE_MS as MINUTE } from '../../lambda/decision/model/units.ts';
import { deploymentOf, keyName } from '../../lambda/keys/model/key-names.ts';
import { judgeKey, type PoolSecretFacts, type RetireFacts } from '../../lambda/keys/rules/retire-key.ts';

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

function world(
  change: Partial<RetireFacts> & { readonly secret?: Partial<PoolSecretFacts> | null } = {},
): RetireFacts {
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

const key = (id: string, name = keyName(DEPLOYMENT, 'cpu', 'abcd1234'), ageMs = 48 * HOUR) => ({
  id,
  name,
  organization: 'org' as OrganizationId,
  tags: {},
  createdAt: ago(ageMs),
});

const daemon = (keyId: string, seenMs: number, name = 'cpu-1') => ({ name, keyId, lastSeenAt: ago(seenMs) });
const daemons = (...items: ReturnType<typeof daemon>[]) => ({ items, now: ago(0) });
const tasks = (...createdMs: number[]) =>
  new Map([['cpu', createdMs.map((ms, index) => ({ id: String(index + 1), createdAt: ago(ms) }))]]);

describe('a key that coderd lists', () => {
  it.each([
    { what: key('old'), in: world(), expected: 'unused', because: 'no task and no daemon has it' },
    { what: key('new'), in: world(), expected: 'current', because: 'tasks that start now get it' },
    { what: key('next'), in: world(), expected: 'pending', because: 'a rotation has stored it' },
    {
      what: key('new'),
      in: world({ secret: { inDoubt: true } }),
      expected: 'current',
      because: 'that is certain in any doubt',
    },
    {
      what: key('x', keyName(OTHER, 'cpu', 'abcd1234')),
      in: world(),
      expected: 'foreign',
      because: 'another stack made it',
    },
    {
      what: key('old', 'by-hand'),
      in: world(),
      expected: 'foreign',
      because: 'a person made it, even if our secret has it',
    },
    {
      what: key('old'),
      in: world({ secret: { inDoubt: true } }),
      expected: 'in-doubt',
      because: 'an unreadable version may hold it',
    },
    {
      what: key('old'),
      in: world({ secret: null }),
      expected: 'in-doubt',
      because: 'the secret could not be read',
    },
    {
      what: key('old'),
      in: world({ tasks: undefined }),
      expected: 'in-doubt',
      because: 'the tasks are unknown',
    },
    {
      what: key('old'),
      in: world({ tasks: new Map() }),
      expected: 'in-doubt',
      because: 'the pool has no service',
    },
    {
      what: key('old'),
      in: world({ daemons: undefined }),
      expected: 'in-doubt',
      because: 'the daemons are unknown',
    },
    {
      what: key('old'),
      in: world({ secret: { changedAt: ago(10 * MINUTE - 1) } }),
      expected: 'too-young',
      because: 'a task that is created now may still have read it',
    },
    {
      what: key('old'),
      in: world({ secret: { changedAt: ago(10 * MINUTE) } }),
      expected: 'unused',
      because: '10 minutes are inclusive',
    },
    {
      what: key('x', undefined, 24 * HOUR - 1),
      in: world(),
      expected: 'too-young',
      because: 'an orphan is kept for 24 hours',
    },
    {
      what: key('x', undefined, 24 * HOUR),
      in: world(),
      expected: 'unused',
      because: 'a crash left it a day ago',
    },
    {
      what: key('old', undefined, 2 * HOUR),
      in: world(),
      expected: 'unused',
      because: 'a previous key is no orphan',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(2 * HOUR) }),
      expected: 'in-use-by-a-task',
      because: 'the task is older than the switch',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(50 * MINUTE + 1) }),
      expected: 'in-use-by-a-task',
      because: 'it began within 10 minutes of the switch',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(50 * MINUTE) }),
      expected: 'unused',
      because: 'it began after that',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(55 * MINUTE), daemons: daemons(daemon('new', 5 * MINUTE)) }),
      expected: 'unused',
      because: 'the daemon of that task shows the new key',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(2 * HOUR, 2 * HOUR), daemons: daemons(daemon('new', 0, 'cpu-2')) }),
      expected: 'in-use-by-a-task',
      because: 'only one of two tasks shows the new key',
    },
    {
      what: key('old'),
      in: world({ tasks: tasks(2 * HOUR), daemons: daemons(daemon('x', 0)) }),
      expected: 'in-use-by-a-task',
      because: 'the key of that daemon is not the current one',
    },
    {
      what: key('old'),
      in: world({ daemons: daemons(daemon('old', 10 * MINUTE - 1)) }),
      expected: 'in-use-by-a-daemon',
      because: 'the daemon may come back, though its task is gone',
    },
    {
      what: key('old'),
      in: world({ daemons: daemons(daemon('old', 10 * MINUTE)) }),
      expected: 'unused',
      because: '10 minutes are over',
    },
    {
      what: key('old'),
      in: world({ daemons: daemons(daemon('new', 0)) }),
      expected: 'unused',
      because: 'daemons with other keys do not matter',
    },
    {
      what: key('x', keyName(DEPLOYMENT, 'gone', 'abcd1234'), 23 * HOUR),
      in: world(),
      expected: 'too-young',
      because: 'its pool is new, or was removed today',
    },
    {
      what: key('x', keyName(DEPLOYMENT, 'gone', 'abcd1234')),
      in: world({ daemons: daemons(daemon('x', 23 * HOUR)) }),
      expected: 'in-use-by-a-daemon',
      because: 'its pool has another way to authenticate now, and builds last for 17 hours',
    },
    {
      what: key('x', keyName(DEPLOYMENT, 'gone', 'abcd1234')),
      in: world(),
      expected: 'unused',
      because: 'its pool was removed',
    },
    {
      what: key('x', keyName(DEPLOYMENT, 'gone', 'abcd1234')),
      in: world({ daemons: undefined }),
      expected: 'in-doubt',
      because: 'the daemons are unknown',
    },
  ])('is $expected: $because', ({ what, in: facts, expected }) => {
    expect(judgeKey(what, facts)).toBe(expected);
  });
});
