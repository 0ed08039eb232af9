/** Tests the custom resource: faults, and events that come twice, late or in another order. */
import { describe, expect, it } from 'vitest';
import { KEY_ID_TAG } from '../../lambda/decision/model/service-tags.ts';
import { MADE_FOR_TAG, type ManagedPool } from '../../lambda/keys/model/pool.ts';
import {
  addForeignKey,
  CPU,
  HOUR,
  KeyLab,
  keyIn,
  MINUTE,
  OTHER_DEPLOYMENT,
  revive,
  SECOND,
} from './key-lab.ts';

const OTHER_TAGS: ManagedPool = { ...CPU, tags: { environment: 'cloud' } };
const OTHER_ORG: ManagedPool = { ...CPU, organization: 'data' };
const OTHER_URL: ManagedPool = { ...CPU, coderUrl: 'https://wrong.example.com' };

function coderdIsDown(lab: KeyLab): void {
  lab.onAnswer = () => {
    throw new Error('the request timed out');
  };
}

function failAt(call: string): (what: string) => void {
  return (what) => {
    if (what === call) throw new Error('the request timed out');
  };
}

async function created(options: ConstructorParameters<typeof KeyLab>[0] = {}): Promise<KeyLab> {
  const lab = new KeyLab(options);
  await lab.resource('Create');
  return lab;
}

describe('a creation', () => {
  it('makes a key with the tags of the pool, and stores it with its id and name', async () => {
    const lab = new KeyLab();
    const answer = await lab.resource('Create');
    const [key] = lab.ownKeys();
    expect(answer).toEqual({
      PhysicalResourceId: 'key-of-cpu',
      Data: { KeyId: key?.id, KeyName: key?.name },
    });
    expect(key?.tags).toEqual(CPU.tags);
    const stored = JSON.parse(lab.secret().value ?? '');
    const madeFor = lab.secret().tags.get(MADE_FOR_TAG);
    expect(stored).toEqual({ key: expect.stringMatching(/^\w{43}$/), id: key?.id, name: key?.name, madeFor });
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(key?.id);
  });

  it('changes nothing when it comes again', async () => {
    const lab = await created();
    const [before, changedAt] = [lab.secret().value, lab.secret().changedAt];
    lab.pass(MINUTE);
    await lab.resource('Create');
    expect([lab.secret().value, lab.secret().changedAt]).toEqual([before, changedAt]);
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('chooses another name after a 409, and leaves the other key alone', async () => {
    const lab = new KeyLab();
    let first: string | undefined;
    lab.onCall = (what) => {
      if (what !== 'POST /api/v2/organizations/{org}/provisionerkeys' || first !== undefined) return;
      first = `${lab.deployment.id}-cpu-kkkkkkk2`;
      addForeignKey(lab, first);
    };
    await lab.resource('Create');
    expect(lab.keyNames()).toContain(first);
    expect(lab.workingKey()?.name).not.toBe(first);
    expect(lab.keys()).toHaveLength(2);
    expect(lab.log.map(({ message }) => message)).toContain(
      'the name of a new key is taken; trying another one',
    );
  });

  it.each([
    { status: 403, says: 'managed keys need a Premium licence' },
    { status: 401, says: 'store a valid token in the secret of managedKeys.token' },
    { status: 503, says: "check coderd's log" },
    { status: 429, says: 'coderd answered 429' },
  ])('fails with advice if coderd answers $status, and leaves no key', async ({ status, says }) => {
    const lab = new KeyLab();
    lab.onAnswer = (what, answer) =>
      what.startsWith('POST') && what.endsWith('provisionerkeys')
        ? { ...answer, statusCode: status, text: '{"message":"no"}' }
        : answer;
    await expect(lab.resource('Create')).rejects.toThrow(says);
    expect(lab.ownKeys()).toEqual([]);
    expect(lab.secret().value).toBeUndefined();
  });

  it.each([
    { rights: { read: 'all' } as const, says: 'the role lacks the right to create keys; give the token' },
    { rights: { create: ['data'] } as const, says: 'the role lacks the right to create keys' },
  ])('names the missing right of $rights behind a 500', async ({ rights, says }) => {
    const lab = new KeyLab({ keyRights: rights });
    await expect(lab.resource('Create')).rejects.toThrow(says);
  });

  it('names the organizations that exist if the configured one does not', async () => {
    const lab = new KeyLab();
    await expect(lab.resource('Create', { pool: { ...CPU, organization: 'dat' } })).rejects.toThrow(
      'finding organization "dat" of pool "cpu": the token\'s user sees default, data',
    );
  });

  it('deletes the key that it could not store', async () => {
    const lab = new KeyLab();
    lab.onCall = (what) => {
      if (what === 'PutSecretValue')
        throw Object.assign(new Error('no'), { name: 'AccessDeniedException', $fault: 'client' });
    };
    await expect(lab.resource('Create')).rejects.toThrow('may call secretsmanager:PutSecretValue');
    expect(lab.ownKeys()).toEqual([]);
  });

  it('succeeds if the key was stored and only the answer was lost: nobody would delete the key', async () => {
    const lab = new KeyLab();
    lab.afterCall = (what) => {
      if (what === 'PutSecretValue') throw new Error('the request timed out');
    };
    expect((await lab.resource('Create')).Data?.KeyId).toBe(lab.workingKey()?.id);
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('that fails leaves no key, as CloudFormation never asks to delete it', async () => {
    const lab = new KeyLab();
    lab.onCall = (what) => {
      if (what === 'PutSecretValue') throw new Error('the request timed out');
    };
    await expect(lab.resource('Create')).rejects.toThrow('PutSecretValue');
    expect(lab.ownKeys()).toEqual([]);
  });

  it('succeeds though the tags cannot be written, and the sweep writes them', async () => {
    const lab = new KeyLab();
    let tags = 0;
    lab.onCall = (what) => {
      if (what === 'TagResource' && tags++ > 0) throw new Error('the request timed out');
    };
    await lab.resource('Create');
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBeUndefined();
    await expect(lab.sweep()).rejects.toThrow('TagResource');
    revive(lab);
    await lab.sweep();
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(lab.workingKey()?.id);
  });

  it('succeeds if it has stored the key and coderd then answers no more', async () => {
    const lab = new KeyLab();
    lab.afterCall = (what) => {
      if (what !== 'PutSecretValue') return;
      coderdIsDown(lab);
      throw new Error('the request timed out');
    };
    const { Data } = await lab.resource('Create');
    expect(Data?.KeyId).toBe(lab.workingKey()?.id);
  });

  it('that comes twice and fails the second time leaves the key of the first', async () => {
    const lab = await created();
    lab.onAnswer = () => {
      throw new Error('the request timed out');
    };
    await expect(lab.resource('Create')).rejects.toThrow('timed out');
    expect(lab.workingKey()).toBeDefined();
  });

  it.each([
    { what: 'has gone', deletes: true },
    { what: 'does not answer', deletes: false },
  ])(
    'that fails deletes the keys of the pool only if no task can have one: its secret $what',
    async (row) => {
      const lab = await created();
      let describes = 0;
      lab.onCall = (what) => {
        if (what.startsWith('GET') && what.endsWith('/self')) throw new Error('no answer');
        if (what !== 'DescribeSecret' || describes++ < 2) return;
        if (row.deletes) lab.secrets.delete(lab.secretName('cpu'));
        else throw new Error('no answer');
      };
      await expect(lab.resource('Create')).rejects.toThrow();
      expect(describes).toBeGreaterThan(2);
      expect(lab.ownKeys()).toHaveLength(row.deletes ? 0 : 1);
    },
  );

  it('fails without a secret: a pool without a key would count as deployed', async () => {
    const lab = new KeyLab();
    lab.secrets.delete(lab.secretName('cpu'));
    await expect(lab.resource('Create')).rejects.toMatchObject({ code: 'secret-gone' });
    expect(lab.ownKeys()).toEqual([]);
  });

  it('fails rather than make keys without end if coderd changes their tags', async () => {
    const lab = new KeyLab();
    lab.onAnswer = (what, answer) =>
      what.endsWith('/self') ? { ...answer, text: answer.text.replace('on-prem', 'cloud') } : answer;
    await expect(lab.resource('Create')).rejects.toThrow('coderd says of the new key: other-tags');
    expect(lab.ownKeys()).toEqual([]);
  });

  it('deletes at once the key whose creation timed out but was done', async () => {
    const lab = new KeyLab();
    lab.afterCall = (what) => {
      if (what.startsWith('POST') && what.endsWith('provisionerkeys'))
        throw new Error('the request timed out');
    };
    await expect(lab.resource('Create')).rejects.toThrow('the request timed out');
    expect(lab.ownKeys()).toEqual([]);
  });

  it('uses a key that a person has stored, if it has the tags of the pool', async () => {
    const lab = new KeyLab();
    const key = addForeignKey(lab, 'by-hand');
    lab.secrets.put(lab.secretName('cpu'), JSON.stringify({ key }));
    const { Data } = await lab.resource('Create');
    expect(Data?.KeyName).toBe('by-hand');
    expect(lab.ownKeys()).toEqual([]);
  });

  it('says what is wrong with the tags of an event', async () => {
    const lab = new KeyLab();
    const properties = { Pool: 'cpu', Organization: 'default', Tags: '["a"]', SecretArn: lab.secret().arn };
    await expect(
      lab.serve({ RequestType: 'Create', RequestId: 'r', ResourceProperties: properties }),
    ).rejects.toThrow('reading the tags of pool "cpu": saw ["a"]; send a JSON object of strings');
  });
});

describe('an update', () => {
  it.each([
    { to: OTHER_TAGS, what: 'tags' },
    { to: OTHER_ORG, what: 'organization' },
  ])('makes another key for another $what, and deletes none', async ({ to }) => {
    const lab = await created();
    const before = lab.workingKey();
    await lab.resource('Update', { pool: to });
    expect(lab.workingKey()).toMatchObject({
      tags: to.tags,
      organizationId: lab.coderd.organizationId(to.organization),
    });
    expect(lab.ownKeys().map(({ id }) => id)).toContain(before?.id);
  });

  it('that changes nothing reads and asks about the current key alone', async () => {
    const lab = await created();
    await lab.rotate();
    const calls: string[] = [];
    lab.onCall = (what) => calls.push(what);
    await lab.resource('Update');
    expect(calls.filter((what) => what === 'GetSecretValue' || what.endsWith('/self'))).toEqual([
      'GetSecretValue',
      'GET /api/v2/provisionerkeys/self',
    ]);
    expect(calls.filter((what) => /^(?:Put|Update|Tag|POST .*keys$|DELETE)/.test(what))).toEqual([]);
  });

  it('takes the previous key back when it is rolled back', async () => {
    const lab = await created();
    const before = lab.workingKey();
    lab.pools = [OTHER_TAGS];
    await lab.resource('Update', { pool: OTHER_TAGS });
    lab.pools = [CPU];
    await lab.resource('Update');
    expect(lab.workingKey()?.id).toBe(before?.id);
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(before?.id);
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it('can be rolled back while coderd does not answer', async () => {
    const lab = await created();
    lab.onAnswer = () => {
      throw new Error('the request timed out');
    };
    await expect(lab.resource('Update', { pool: OTHER_TAGS })).rejects.toThrow('timed out');
    const rolledBack = await lab.resource('Update');
    expect(rolledBack.Data?.KeyId).toBe(lab.workingKey()?.id);
    expect(lab.log.at(-1)?.message).toContain('without asking coderd');
  });

  it('can be rolled back while the token sees the organization no more', async () => {
    const lab = await created();
    lab.onAnswer = (what, answer) => (what.endsWith('/organizations') ? { ...answer, text: '[]' } : answer);
    expect((await lab.resource('Update')).Data?.KeyId).toBe(lab.workingKey()?.id);
  });

  it('does not trust a key that was made for other tags while coderd does not answer', async () => {
    const lab = await created();
    await lab.resource('Update', { pool: OTHER_TAGS });
    coderdIsDown(lab);
    await expect(lab.resource('Update', { pool: { ...CPU, tags: { a: 'b' } } })).rejects.toThrow('timed out');
  });

  it.each(['written', 'not written'])(
    'takes the previous key back when it is rolled back while coderd does not answer, with tags %s',
    async (tags) => {
      const lab = await created();
      const before = lab.workingKey();
      if (tags === 'not written') lab.onCall = failAt('TagResource');
      await lab.resource('Update', { pool: OTHER_TAGS });
      revive(lab);
      coderdIsDown(lab);
      expect((await lab.resource('Update')).Data?.KeyId).toBe(before?.id);
      expect(lab.workingKey()?.id).toBe(before?.id);
      expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(before?.id);
    },
  );

  it('fails if coderd does not answer at another URL, and can be rolled back meanwhile', async () => {
    const lab = await created();
    coderdIsDown(lab);
    const update = lab.resource('Update', { pool: OTHER_URL, before: CPU });
    await expect(update).rejects.toThrow('https://wrong.example.com');
    const rolledBack = await lab.resource('Update', { before: OTHER_URL });
    expect(rolledBack.Data?.KeyId).toBe(lab.workingKey()?.id);
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it.each(['https://CODER.example.com/', 'https://coder.example.com:443'])(
    'succeeds while coderd does not answer if only the spelling of its URL changes to %s',
    async (coderUrl) => {
      const lab = await created();
      coderdIsDown(lab);
      const { Data } = await lab.resource('Update', { pool: { ...CPU, coderUrl }, before: CPU });
      expect(Data?.KeyId).toBe(lab.workingKey()?.id);
    },
  );

  it('trusts a key of a version that noted no URL while coderd does not answer at the same URL', async () => {
    const lab = await created();
    const { key, id, name } = JSON.parse(lab.secret().value ?? '');
    lab.secrets.put(lab.secretName('cpu'), JSON.stringify({ key, id, name }));
    lab.secret().tags.set(MADE_FOR_TAG, 'ff856a466bd81623');
    coderdIsDown(lab);
    expect((await lab.resource('Update')).Data?.KeyId).toBe(id);
    const update = lab.resource('Update', { pool: OTHER_URL, before: CPU });
    await expect(update).rejects.toThrow('https://wrong.example.com');
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('succeeds without the secret that somebody deleted, so that a rollback ends, and the sweep fails', async () => {
    const lab = await created();
    lab.secrets.delete(lab.secretName('cpu'));
    for (const pool of [OTHER_TAGS, CPU])
      expect(await lab.resource('Update', { pool })).toEqual({ PhysicalResourceId: 'key-of-cpu' });
    expect(lab.log.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('restore') });
    await expect(lab.sweep()).rejects.toThrow('restore the secret');
  });

  it('does not trust a key that a person has stored while coderd does not answer', async () => {
    const lab = await created();
    lab.secrets.put(lab.secretName('cpu'), JSON.stringify({ key: 'x'.repeat(43), id: 'another', name: 'x' }));
    lab.onAnswer = () => {
      throw new Error('the request timed out');
    };
    await expect(lab.resource('Update')).rejects.toThrow('timed out');
  });

  it.each([401, 403, 503])('takes no answer of a proxy (%i) for the end of a key', async (status) => {
    const lab = await created();
    const before = lab.workingKey();
    lab.onAnswer = (_, answer) => ({ ...answer, statusCode: status, text: '<html>sign in</html>' });
    await lab.resource('Update');
    revive(lab);
    expect(lab.workingKey()?.id).toBe(before?.id);
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('takes no page of a proxy in place of the answer about a key for the end of the key', async () => {
    const lab = await created();
    lab.onAnswer = (what, answer) =>
      what.endsWith('/self') ? { ...answer, statusCode: 401, text: '<html>sign in</html>' } : answer;
    await expect(lab.resource('Update', { pool: OTHER_TAGS })).rejects.toThrow('coderd answered 401');
    await lab.resource('Update');
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('replaces a key that somebody deleted in coderd, not by the one before it', async () => {
    const lab = await created();
    await lab.rotate();
    const [first, second] = lab.ownKeys();
    lab.coderd.deleteKey('default', second?.name ?? '');
    await lab.resource('Update');
    expect(lab.workingKey()).toBeDefined();
    expect([first?.id, second?.id]).not.toContain(lab.workingKey()?.id);
  });
});

describe('an update that makes a key', () => {
  it('gives up after three names that are taken, and leaves the other keys alone', async () => {
    const lab = await created();
    const before = lab.keyNames();
    const taken: string[] = [];
    lab.onCall = (what) => {
      if (what !== 'POST /api/v2/organizations/{org}/provisionerkeys') return;
      const { fields } = lab.log.at(-1) ?? {};
      taken.push(String(fields && 'keyName' in fields && fields.keyName));
      addForeignKey(lab, taken.at(-1) ?? '');
    };
    await expect(lab.resource('Update', { pool: OTHER_TAGS })).rejects.toThrow(
      'creating a provisioner key for pool "cpu": coderd has keys of 3 random names already; look at the keys of organization "default"',
    );
    expect(new Set(taken).size).toBe(3);
    expect(lab.keyNames()).toEqual([...before, ...taken]);
  });

  it('keeps it if storing got no answer: it may be stored later', async () => {
    const lab = await created();
    lab.onCall = (what) => {
      if (what === 'PutSecretValue') throw new Error('the request timed out');
    };
    await expect(lab.resource('Update', { pool: OTHER_TAGS })).rejects.toThrow('PutSecretValue');
    expect(lab.ownKeys()).toHaveLength(2);
    revive(lab);
    lab.pass(25 * HOUR);
    await lab.sweep();
    expect(lab.ownKeys().map(({ id }) => id)).toEqual([lab.workingKey()?.id]);
  });
});

describe('a deletion', () => {
  it('deletes all keys of the pool when its service is gone', async () => {
    const lab = await created();
    lab.startTask();
    await lab.rotate();
    await lab.resource('Update', { pool: OTHER_ORG });
    addForeignKey(lab, 'by-hand');
    lab.stopTasks();
    lab.services.delete('cpu');
    expect(await lab.resource('Delete')).toEqual({ PhysicalResourceId: 'key-of-cpu' });
    expect(lab.ownKeys()).toEqual([]);
    expect(lab.keyNames()).toEqual(['by-hand']);
  });

  it('keeps the key of another pool', async () => {
    const gpu = { ...CPU, name: 'gpu' };
    const lab = new KeyLab({ pools: [CPU, gpu] });
    await lab.resource('Create');
    await lab.resource('Create', { pool: gpu });
    lab.services.clear();
    await lab.resource('Delete');
    expect(lab.workingKey('gpu')).toBeDefined();
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('leaves a key that a running task uses, and names it, within a minute', async () => {
    const lab = await created();
    const task = lab.startTask();
    const before = lab.now;
    await lab.resource('Delete');
    expect(lab.now - before).toBeLessThanOrEqual(MINUTE);
    expect(lab.lostTasks()).toEqual([]);
    expect(lab.log.at(-1)).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('gave up'),
      fields: { keys: [lab.ownKeys()[0]?.name] },
    });
    if (task !== undefined) lab.stopTask(task);
    lab.pools = [];
    lab.pass(25 * HOUR);
    await lab.sweep();
    expect(lab.ownKeys()).toEqual([]);
  });

  it.each([
    { what: 'coderd does not answer', status: undefined },
    { what: 'coderd answers 403', status: 403 },
    { what: 'coderd answers 500', status: 500 },
    { what: 'the role may not list keys', status: 200 },
  ])('succeeds within a minute and names the key that is left if $what', async ({ status }) => {
    const lab = await created();
    const [name] = lab.ownKeys().map((key) => key.name);
    lab.services.delete('cpu');
    if (status === 200) lab.token = lab.coderd.addToken({ canRead: 'all', keyRights: { read: [] } });
    else
      lab.onAnswer = (_, answer) => {
        if (status === undefined) throw new Error('the request timed out');
        return { ...answer, statusCode: status, text: '{"message":"no"}' };
      };
    const before = lab.now;
    await lab.resource('Delete');
    expect(lab.now - before).toBeLessThanOrEqual(MINUTE);
    expect(lab.log.at(-1)?.fields).toMatchObject({ keys: [name] });
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('is not held up by an organization in which the token may read nothing', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    const keyRights = { read: ['default'], create: ['default'], delete: ['default'] } as const;
    lab.token = lab.coderd.addToken({ canRead: 'all', keyRights });
    const before = lab.now;
    await lab.resource('Delete');
    expect(lab.now).toBe(before);
    expect(lab.ownKeys()).toEqual([]);
  });

  it.each([
    [1, 4],
    [12, 4],
    [12, 0],
  ])(
    'ends in time for its function if coderd is slow, and %i organizations and %i old keys exist',
    async (count, rotations) => {
      const names = Array.from({ length: count }, (_, index) => `org-${index}`);
      const lab = await created({ organizations: ['default', ...names] });
      for (let times = 0; times < rotations; times += 1) await lab.rotate();
      lab.services.delete('cpu');
      lab.afterCall = (what) => {
        if (what.includes('/api/')) lab.pass(18 * SECOND);
      };
      const before = lab.now;
      await lab.resource('Delete');
      expect(lab.now - before).toBeLessThanOrEqual(2 * MINUTE);
      expect(lab.log.at(-1)?.message).toContain('gave up');
    },
  );

  it('tries again until coderd answers', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    const downUntil = lab.now + 20_000;
    lab.onAnswer = (_, answer) => {
      if (lab.now < downUntil) throw new Error('the request timed out');
      return answer;
    };
    await lab.resource('Delete');
    expect(lab.ownKeys()).toEqual([]);
  });

  it.each(['missing', 'scheduled for deletion'])('deletes the keys though the secret is %s', async (what) => {
    const lab = await created();
    lab.services.delete('cpu');
    const arn = lab.secret().arn;
    if (what !== 'missing') lab.secrets.delete(lab.secretName('cpu'));
    const properties = { Pool: 'cpu', Organization: 'default', Tags: '{}' };
    const SecretArn = what === 'missing' ? arn.replace('key-of', 'no-key-of') : arn;
    await lab.serve({ RequestType: 'Delete', ResourceProperties: { ...properties, SecretArn } });
    expect(lab.ownKeys()).toEqual([]);
  });

  it('that comes before the creation has finished leaves no key', async () => {
    const lab = new KeyLab();
    lab.services.delete('cpu');
    let deletion: Promise<unknown> | undefined;
    lab.afterCall = (what) => {
      if (!what.startsWith('POST') || !what.endsWith('provisionerkeys') || deletion !== undefined) return;
      deletion = lab.resource('Delete');
    };
    await expect(lab.resource('Create')).rejects.toThrow('the resource was deleted meanwhile');
    await deletion;
    expect(lab.ownKeys()).toEqual([]);
  });

  it.each(['Create', 'Update'] as const)('is final: a late repetition of %s makes no key', async (type) => {
    const lab = await created();
    lab.services.delete('cpu');
    await lab.resource('Delete', { request: 'request-2' });
    await expect(lab.resource(type)).rejects.toThrow('the resource is deleted already; this event is late');
    await expect(lab.rotate()).rejects.toThrow('nothing is to rotate');
    await lab.sweep();
    expect(lab.ownKeys()).toEqual([]);
  });

  it('leaves the keys of running tasks, though coderd has not seen their daemons for an hour', async () => {
    const lab = await created();
    lab.startTask()?.connection.close();
    lab.pass(HOUR);
    await lab.resource('Delete');
    expect(lab.lostTasks()).toEqual([]);
  });

  it('that comes again after a new creation deletes nothing', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    await lab.resource('Delete', { request: 'request-2' });
    await lab.resource('Create', { request: 'request-3' });
    await lab.resource('Delete', { request: 'request-2' });
    expect(lab.workingKey()).toBeDefined();
    await lab.resource('Delete', { request: 'request-4' });
    expect(lab.ownKeys()).toEqual([]);
  });

  it('can be followed by a new creation, as after a failed deployment', async () => {
    const lab = await created();
    lab.services.delete('cpu');
    await lab.resource('Delete', { request: 'request-2' });
    await lab.resource('Create', { request: 'request-3' });
    expect(lab.workingKey()).toBeDefined();
  });
});

describe('two deployments with one coderd', () => {
  it('never touch the keys of each other, though stack and pool have the same names', async () => {
    const one = await created();
    const two = new KeyLab({ shared: one, deployment: OTHER_DEPLOYMENT });
    await two.resource('Create');
    await one.rotate();
    for (const lab of [one, two]) {
      lab.pass(26 * HOUR);
      await lab.sweep();
    }
    expect(one.ownKeys()).toHaveLength(1);
    expect(two.ownKeys()).toHaveLength(1);
    one.services.delete('cpu');
    await one.resource('Delete');
    expect(one.ownKeys()).toEqual([]);
    expect(two.workingKey()?.id).toBe(two.ownKeys()[0]?.id);
  });
});

it('never logs or returns a key', async () => {
  const lab = await created();
  const said: unknown[] = [await lab.resource('Update', { pool: OTHER_TAGS }), await lab.rotate()];
  const keys = lab.secret().versions.flatMap(({ value }) => keyIn(value));
  lab.pass(26 * HOUR);
  said.push(await lab.check(), await lab.sweep(), await lab.resource('Delete'));
  expect(keys.length).toBeGreaterThan(2);
  const text = JSON.stringify([said, lab.log]);
  for (const key of [...keys, lab.token]) expect(text).not.toContain(key);
});
