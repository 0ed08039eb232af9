/** What the key function says, whole: lines of its log, problems of pools, and errors of a sweep. */
import { describe, expect, it } from 'vitest';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import { KEY_ID_TAG } from '../../lambda/decision/model/service-tags.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import { type ManagedPool, RESOURCE_TAG } from '../../lambda/keys/model/pool.ts';
import { isOfNoConcern } from '../../lambda/keys/steps/read-keys.ts';
import { CPU, HOUR, KeyLab, type LogLine, MINUTE, SECOND } from './key-lab.ts';

const OTHER_TAGS: ManagedPool = { ...CPU, tags: { environment: 'cloud' } };

async function created(options: ConstructorParameters<typeof KeyLab>[0] = {}): Promise<KeyLab> {
  const lab = new KeyLab(options);
  await lab.resource('Create');
  lab.log.length = 0;
  return lab;
}

/** Lets calls of these names fail, as if they had no answer. */
const failing =
  (...calls: readonly string[]) =>
  (what: string): void => {
    if (calls.includes(what)) throw new Error('the request timed out');
  };

const keysOf = (lab: KeyLab) => ({ keyId: lab.workingKey()?.id, keyName: lab.workingKey()?.name });
const info = (message: string, fields: object): LogLine => ({ level: 'info', message, fields });
const warn = (message: string, fields: object): LogLine => ({ level: 'warn', message, fields });

describe('the log', () => {
  it('of a creation names the key before it is made, and why it is', async () => {
    const lab = new KeyLab();
    await lab.resource('Create');
    const { keyId, keyName } = keysOf(lab);
    expect(lab.log).toEqual([
      info('creating a provisioner key', { pool: 'cpu', keyName }),
      info('the key of a pool has changed', { pool: 'cpu', keyId, keyName, because: 'nothing' }),
    ]);
  });

  it('of a rollback says that the previous key is back', async () => {
    const lab = await created();
    await lab.resource('Update', { pool: OTHER_TAGS });
    expect(lab.log.at(-1)).toEqual(
      info('the key of a pool has changed', { pool: 'cpu', ...keysOf(lab), because: 'other-tags' }),
    );
    await lab.resource('Update');
    const because = 'the previous key has the tags of the pool';
    expect(lab.log.at(-1)).toEqual(
      info('the key of a pool has changed', { pool: 'cpu', ...keysOf(lab), because }),
    );
  });

  it('of an update that changes nothing is empty', async () => {
    const lab = await created();
    await lab.resource('Update');
    expect(lab.log).toEqual([]);
  });

  it('of an update without an answer of coderd says which key was chosen', async () => {
    const lab = await created();
    lab.onAnswer = () => {
      throw new Error('no answer');
    };
    await lab.resource('Update');
    expect(lab.log).toEqual([
      warn('chose the key of a pool without asking coderd, by what the key was made for', {
        pool: 'cpu',
        keyName: lab.workingKey()?.name,
        error: 'asking coderd about a provisioner key: no answer',
      }),
    ]);
  });

  it('of an update whose tags cannot be written says who writes them', async () => {
    const lab = await created();
    lab.onCall = failing('TagResource');
    await lab.resource('Update', { pool: OTHER_TAGS });
    expect(lab.log.at(-1)).toEqual(
      warn('could not write the tags of a key; the next sweep does it', {
        pool: 'cpu',
        error: expect.stringMatching(/^calling TagResource of secret .*: the request timed out; check that/),
      }),
    );
  });

  it('of an update without the secret says how to restore it', async () => {
    const lab = await created();
    lab.secrets.delete(lab.secretName('cpu'));
    await lab.resource('Update');
    expect(lab.log).toEqual([
      warn(
        'the secret of a managed key is deleted; restore it with `aws secretsmanager restore-secret`: without it no task of the pool starts',
        { pool: 'cpu', error: expect.stringMatching(/^using secret .*: it is scheduled for deletion$/) },
      ),
    ]);
  });

  it('of a rotation names the new key, and nothing that went wrong', async () => {
    const lab = await created();
    const token = await lab.rotate();
    await lab.step('testSecret', token);
    const { keyId, keyName } = keysOf(lab);
    expect(lab.log).toEqual([
      info('creating a provisioner key', { pool: 'cpu', keyName }),
      info('rotated the key of a pool', { pool: 'cpu', keyId, keyName }),
      info('no rotation is in progress', { pool: 'cpu', step: 'testSecret', token }),
    ]);
  });

  it('of a rotation says why it makes another key than the pending one', async () => {
    const lab = await created();
    const token = lab.announce();
    await lab.step('createSecret', token);
    lab.pools = [OTHER_TAGS];
    lab.log.length = 0;
    await lab.step('testSecret', token);
    expect(lab.log[0]).toEqual(
      warn('coderd or the pool has no use for the new key of a rotation; making another one', {
        pool: 'cpu',
        because: 'other-tags',
      }),
    );
  });

  it('of a sweep names each key that it deletes', async () => {
    const lab = await created();
    const [old] = lab.ownKeys();
    await lab.rotate();
    lab.pass(26 * HOUR);
    await lab.sweep();
    expect(lab.log.at(-2)).toEqual(
      info('deleted a provisioner key that nothing uses any more', { keyId: old?.id, keyName: old?.name }),
    );
  });

  it('of a deletion says that the keys are gone', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    await lab.resource('Delete');
    expect(lab.log).toEqual([info('deleted the keys of a pool', { pool: 'cpu' })]);
  });

  it.each([
    {
      what: 'two tasks run',
      act: (lab: KeyLab) => void [lab.startTask(), lab.startTask()],
      because:
        '2 tasks of the pool run and may need them; the sweep deletes the keys a day after their last daemon',
    },
    {
      what: 'coderd lists a deleted key',
      act: (lab: KeyLab) => {
        lab.services.delete('cpu');
        lab.coderd.deleteKey = () => true as never;
        const before = lab.onAnswer;
        const [key] = lab.ownKeys();
        lab.onAnswer = (call, answer) => {
          if (!call.startsWith('GET') || !call.endsWith('provisionerkeys') || answer.text !== '[]')
            return before(call, answer);
          const { id, name, createdAt } = key ?? { id: '', name: '', createdAt: 0 };
          const created_at = new Date(createdAt).toISOString();
          return { ...answer, text: JSON.stringify([{ id, name, organization: 'o', created_at, tags: {} }]) };
        };
      },
      because: 'coderd still lists them',
    },
    {
      what: 'ECS does not answer',
      act: (lab: KeyLab) => {
        lab.onCall = failing('ecs tasks');
      },
      because: 'the request timed out',
    },
  ])('of a deletion names the keys that are left, and why: $what', async ({ act, because }) => {
    const lab = await created({ organizations: ['default'] });
    const [key] = lab.ownKeys();
    act(lab);
    await lab.resource('Delete');
    expect(lab.log).toEqual([
      warn('gave up deleting keys of a pool; delete them with `coder provisioner keys delete`', {
        pool: 'cpu',
        keys: [key?.name],
        because,
      }),
    ]);
  });

  it('of a deletion says that the secret could not be read, and deletes the keys', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    lab.onCall = failing('DescribeSecret');
    await lab.resource('Delete');
    expect(lab.log).toEqual([
      warn('could not read the secret of a deleted key', {
        secret: lab.secret().arn,
        error: expect.stringMatching(
          /^calling DescribeSecret of secret .*: the request timed out; check that/,
        ),
      }),
      info('deleted the keys of a pool', { pool: 'cpu' }),
    ]);
    expect(lab.ownKeys()).toEqual([]);
  });

  it('of a key that could not be stored or deleted says when it goes', async () => {
    const lab = await created();
    lab.onCall = (what) => {
      if (what.startsWith('DELETE')) throw new Error('no answer');
      if (what === 'PutSecretValue')
        throw Object.assign(new Error('no'), { name: 'Denied', $fault: 'client' });
    };
    await expect(lab.resource('Update', { pool: OTHER_TAGS })).rejects.toThrow('PutSecretValue');
    const name = lab.keyNames().at(-1);
    expect(lab.log.at(-1)).toEqual(
      warn('a new key was not stored and could not be deleted; the sweep deletes it after 24 h', {
        name,
        error: `deleting the provisioner key "${name}" of organization "default": no answer`,
      }),
    );
  });
});

describe('the problem of a pool', () => {
  const AGAIN = '; the next sweep, within 15 minutes, makes another key';

  it.each<{ act: (lab: KeyLab) => unknown; problem: string; works?: 'yes' | 'unknown' }>([
    {
      act: (lab) => lab.coderd.deleteKey('default', lab.workingKey()?.name ?? ''),
      problem: `coderd does not know the key in its secret; somebody has deleted it${AGAIN}`,
    },
    {
      act: (lab) => lab.secrets.put(lab.secretName('cpu'), 'hello'),
      problem: `the value of its secret has no field "key"${AGAIN}`,
    },
    {
      act: (lab) => {
        lab.pools = [OTHER_TAGS];
      },
      problem: `the key in its secret has other tags than the pool${AGAIN}`,
    },
    {
      act: (lab) => {
        lab.pools = [{ ...CPU, organization: 'data' }];
      },
      problem: `the key in its secret belongs to another organization${AGAIN}`,
    },
    {
      act: (lab) => lab.announce(),
      works: 'yes',
      problem: 'a rotation is running: a version of its secret has no key yet',
    },
    {
      act: (lab) => {
        lab.announce();
        lab.pass(11 * MINUTE);
      },
      works: 'yes',
      problem:
        'a version of its secret has no readable key, so no old key is deleted; if no rotation is running, remove the label AWSPENDING from that version',
    },
    {
      act: async (lab) => {
        lab.services.delete('cpu');
        await lab.resource('Delete');
        lab.pass(HOUR);
      },
      problem: 'CloudFormation has deleted its key',
    },
  ])('is that $problem', async ({ act, problem, works = 'no' }) => {
    const lab = await created();
    await act(lab);
    const { pools } = await lab.check();
    expect(pools).toMatchObject([{ pool: 'cpu', works, problems: [problem] }]);
  });

  it('is that nothing tells which key tasks get, however new the value is', async () => {
    const lab = await created();
    lab.secret().tags.delete(KEY_ID_TAG);
    lab.secrets.put(lab.secretName('cpu'), 'hello');
    const { pools } = await lab.check();
    expect(pools[0]?.problems).toEqual([
      `the value of its secret has no field "key"${AGAIN}`,
      'a version of its secret has no readable key, so no old key is deleted; if no rotation is running, remove the label AWSPENDING from that version',
    ]);
  });

  it('is that its secret has no value, once CloudFormation has created its key', async () => {
    const lab = new KeyLab();
    lab.secret().tags.set(RESOURCE_TAG, 'created request-1 -');
    const { pools } = await lab.check();
    expect(pools[0]?.works).toBe('no');
    expect(pools[0]?.problems[0]).toBe(`its secret has no value${AGAIN}`);
  });

  it('is that coderd is too slow for all pools', async () => {
    const gpu = { ...CPU, name: 'gpu' };
    const lab = await created({ pools: [CPU, gpu] });
    await lab.resource('Create', { pool: gpu });
    lab.afterCall = (what) => {
      if (what.endsWith('/self')) lab.pass(90 * SECOND);
    };
    const leftOut =
      'coderd answered too slowly to look after all pools within 90 s; a later sweep starts with the others';
    await expect(lab.sweep()).rejects.toThrow(`sweeping the keys: ${leftOut}`);
    lab.log.length = 0;
    const { pools } = await lab.check();
    expect(pools.map(({ works }) => works)).toEqual(['yes', 'yes']);
  });
});

describe('a sweep or a check', () => {
  it.each([
    {
      call: 'GET /api/v2/organizations/{org}/provisionerkeys',
      says: 'listing provisioner keys of organization "default": the request timed out',
    },
    {
      call: 'GET /api/v2/organizations/{org}/provisionerdaemons',
      says: 'listing provisioner daemons of organization "default": the request timed out',
    },
    { call: 'ecs tasks', says: 'the request timed out' },
    {
      call: 'DELETE /api/v2/organizations/{org}/provisionerkeys/',
      says: 'deleting the provisioner key ',
    },
    {
      call: 'POST /api/v2/authcheck',
      says: "checking the rights of the token's user: the request timed out",
    },
  ])('that fails says what it could not do: $call', async ({ call, says }) => {
    const lab = await created();
    await lab.rotate();
    lab.pass(26 * HOUR);
    lab.onCall = (what) => {
      if (what.startsWith(call)) throw new Error('the request timed out');
    };
    await expect(lab.sweep()).rejects.toMatchObject({
      code: 'unfinished',
      message: expect.stringContaining(`sweeping the keys: ${says}`),
    });
  });

  it('says each problem once', async () => {
    const lab = await created({ organizations: ['default', 'data'] });
    lab.onCall = failing('GET /api/v2/organizations');
    const error: unknown = await lab.sweep().catch((cause: unknown) => cause);
    expect(String(error)).toBe(
      'KeysError: sweeping the keys: pool "cpu": listing organizations: the request timed out; listing organizations: the request timed out',
    );
  });

  it('reads no daemons and no tasks while each key is in use', async () => {
    const lab = await created({ organizations: ['default'] });
    const calls: string[] = [];
    lab.onCall = (what) => calls.push(what);
    await lab.sweep();
    expect(calls.filter((what) => what === 'ecs tasks' || what.endsWith('provisionerdaemons'))).toEqual([]);
  });

  it('reads daemons for a check only where there are keys', async () => {
    const lab = await created({ organizations: ['default', 'data'] });
    const calls: string[] = [];
    lab.onCall = (what) => calls.push(what);
    await lab.check();
    expect(calls.filter((what) => what.endsWith('provisionerdaemons'))).toHaveLength(1);
  });

  it('asks for no rights if no pool has a managed key', async () => {
    const lab = await created({ organizations: ['default'] });
    lab.pools = [];
    const calls: string[] = [];
    lab.onCall = (what) => calls.push(what);
    await lab.sweep();
    expect(calls).not.toContain('POST /api/v2/authcheck');
  });
});

describe('a list that coderd refuses', () => {
  const data = { id: 'aaaa-1' as OrganizationId, name: 'Data' };
  const forbidden = new KeysError('forbidden', 'no');

  it.each([
    { cause: forbidden, pools: [], ofNoConcern: true, because: 'no pool has a managed key' },
    {
      cause: forbidden,
      pools: ['default', 'dat'],
      ofNoConcern: true,
      because: 'no pool is of this organization',
    },
    { cause: forbidden, pools: ['default', 'dATA'], ofNoConcern: false, because: 'a pool names it' },
    { cause: forbidden, pools: ['AAAA-1'], ofNoConcern: false, because: 'a pool has its id' },
    {
      cause: new KeysError('unanswered', 'no'),
      pools: [],
      ofNoConcern: false,
      because: 'it may be back soon',
    },
    { cause: new Error('forbidden'), pools: [], ofNoConcern: false, because: 'coderd did not say so' },
  ])('is of no concern ($ofNoConcern) if $because', ({ cause, pools, ofNoConcern }) => {
    expect(isOfNoConcern(cause, data, ...pools)).toBe(ofNoConcern);
  });
});

it.each(['DEFAULT', 'the id'])('finds the organization of a pool that names it %s', async (name) => {
  const lab = new KeyLab();
  const id = lab.coderd.organizationId('default');
  const pool = { ...CPU, organization: name === 'the id' ? id.toUpperCase() : name };
  lab.pools = [pool];
  await lab.resource('Create', { pool });
  expect(lab.workingKey()?.organizationId).toBe(id);
  const { pools, problems } = await lab.check();
  expect(pools).toMatchObject([{ works: 'yes', problems: [] }]);
  expect(problems).toEqual([]);
  lab.token = lab.coderd.addToken({ canRead: 'all', keyRights: { read: 'all' } });
  await expect(lab.sweep()).rejects.toThrow(
    'the token\'s user may not create, delete provisioner keys in organization "default"; give it the role organization template admin there',
  );
});

it('deletes the keys for a deletion without a request id, though it has come once before', async () => {
  const lab = await created();
  lab.services.delete('cpu');
  const ResourceProperties = {
    Pool: 'cpu',
    Organization: 'default',
    Tags: '{}',
    SecretArn: lab.secret().arn,
  };
  const deletion = { RequestType: 'Delete', PhysicalResourceId: 'another-id', ResourceProperties };
  await lab.serve(deletion);
  await lab.resource('Create', { request: 'request-3' });
  expect(await lab.serve(deletion)).toEqual({ PhysicalResourceId: 'another-id' });
  expect(lab.ownKeys()).toEqual([]);
  delete (deletion as { PhysicalResourceId?: string }).PhysicalResourceId;
  expect(await lab.serve(deletion)).toEqual({ PhysicalResourceId: 'key-of-cpu' });
});
