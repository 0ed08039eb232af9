/** Tests the rotation in four steps: faults, and steps that come twice, late or with an old token. */
import { describe, expect, it } from 'vitest';
import { ROTATION_STEPS, runRotation, testRotation } from '../../lab/world/secrets/model.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { MADE_FOR_TAG, RESOURCE_TAG } from '../../lambda/keys/model/pool.ts';
import { addForeignKey, CPU, Crash, HOUR, KeyLab, keyIn, MINUTE, revive, SECOND } from './key-lab.ts';

async function created(options: ConstructorParameters<typeof KeyLab>[0] = {}): Promise<KeyLab> {
  const lab = new KeyLab(options);
  await lab.resource('Create');
  return lab;
}

const pendingKey = (lab: KeyLab): string => keyIn(lab.secret().withStage('AWSPENDING')?.value);

describe('a rotation', () => {
  it('makes a new key the current one, and leaves the old one to the sweep', async () => {
    const lab = await created();
    const before = lab.workingKey();
    const token = await lab.rotate();
    const after = lab.workingKey();
    expect(after?.id).not.toBe(before?.id);
    expect(after?.tags).toEqual(CPU.tags);
    expect(lab.secret().withStage('AWSCURRENT')?.id).toBe(token);
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(after?.id);
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it('can follow another one at once', async () => {
    const lab = await created();
    for (let round = 0; round < 3; round += 1) await lab.rotate();
    expect(lab.ownKeys()).toHaveLength(4);
    expect(lab.workingKey()).toBeDefined();
  });

  it('changes nothing before its last step', async () => {
    const lab = await created();
    const before = lab.secret().value;
    const token = lab.announce();
    for (const step of ROTATION_STEPS.slice(0, 3)) {
      await lab.step(step, token);
      expect(lab.secret().value).toBe(before);
    }
  });

  it('makes one key, however often each step comes', async () => {
    const lab = await created();
    const token = lab.announce();
    for (const step of [...ROTATION_STEPS, ...ROTATION_STEPS]) {
      await lab.step(step, token);
      await lab.step(step, token);
    }
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it('succeeds at the second attempt after an outage of coderd in any step', async () => {
    for (let call = 0; call < 12; call += 1) {
      const lab = await created();
      let calls = 0;
      lab.onAnswer = (_, answer) => {
        calls += 1;
        if (calls === call) throw new Error('the request timed out');
        return answer;
      };
      await runRotation(lab.secrets, lab.secret(), { attempts: 2, invoke: (event) => lab.serve(event) });
      expect(lab.workingKey(), `with an outage in call ${call}`).toBeDefined();
      revive(lab);
      lab.pass(26 * HOUR);
      await lab.sweep();
      expect(lab.ownKeys(), `with an outage in call ${call}`).toHaveLength(1);
    }
  });

  it.each(['testSecret', 'finishSecret'] as const)(
    'replaces a pending key that somebody deleted before %s, and does not try it for ever',
    async (step) => {
      const lab = await created();
      const token = lab.announce();
      await lab.step('createSecret', token);
      lab.coderd.deleteKey('default', lab.coderd.keys.withSecret(pendingKey(lab))?.name ?? '');
      await lab.step(step, token);
      await lab.step('finishSecret', token);
      expect(lab.workingKey()).toBeDefined();
      expect(lab.secret().withStage('AWSCURRENT')?.id).not.toBe(token);
      await lab.rotate();
      expect(lab.workingKey()).toBeDefined();
    },
  );

  it('replaces a pending key with the tags of before a deployment', async () => {
    const lab = await created();
    const token = lab.announce();
    await lab.step('createSecret', token);
    lab.pools = [{ ...CPU, tags: { environment: 'cloud' } }];
    await lab.step('testSecret', token);
    await lab.step('finishSecret', token);
    expect(lab.workingKey()?.tags).toEqual({ environment: 'cloud' });
  });

  it('replaces a pending value that is no key', async () => {
    const lab = await created();
    const token = lab.announce();
    lab.secret().put({ id: token, value: 'hello', stages: ['AWSPENDING'], now: lab.now });
    for (const step of ROTATION_STEPS) await lab.step(step, token);
    expect(lab.workingKey()).toBeDefined();
    expect(lab.log.map(({ message }) => message)).toContain(
      'coderd or the pool has no use for the new key of a rotation; making another one',
    );
  });

  it('keeps the stored key and deletes its own if another invocation was faster', async () => {
    const lab = await created();
    const token = lab.announce();
    let other: Promise<unknown> | undefined;
    lab.afterCall = (what) => {
      if (!what.startsWith('POST') || !what.endsWith('provisionerkeys') || other !== undefined) return;
      lab.afterCall = () => {};
      other = lab.step('createSecret', token);
    };
    const first = lab.step('createSecret', token);
    await Promise.allSettled([first]);
    await other;
    await lab.step('finishSecret', token);
    expect(lab.workingKey()).toBeDefined();
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it.each(ROTATION_STEPS)('does nothing in %s if no rotation is in progress', async (step) => {
    const lab = await created();
    const before = lab.secret().value;
    await lab.step(step, 'x'.repeat(32));
    expect(lab.secret().value).toBe(before);
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it.each(ROTATION_STEPS)(
    'writes lost tags in the last step only, not in %s, if no rotation is in progress',
    async (step) => {
      const lab = await created();
      lab.secret().tags.delete(KEY_ID_TAG);
      await lab.step(step, 'x'.repeat(32));
      const expected = step === 'finishSecret' ? lab.workingKey()?.id : undefined;
      expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(expected);
    },
  );

  it('that has ended says of a key with other tags that it was made for another pool', async () => {
    const lab = await created();
    const madeFor = lab.secret().tags.get(MADE_FOR_TAG);
    lab.secret().tags.delete(MADE_FOR_TAG);
    await lab.step('finishSecret', 'x'.repeat(32));
    expect(lab.secret().tags.get(MADE_FOR_TAG)).toBe(madeFor);
    lab.pools = [{ ...CPU, tags: { environment: 'cloud' } }];
    await lab.step('finishSecret', 'x'.repeat(32));
    expect(lab.secret().tags.get(MADE_FOR_TAG)).toBe('another-pool');
  });

  it('moves no label if the version is the current one already, as the first of a secret is', async () => {
    const lab = new KeyLab();
    const token = lab.announce();
    const calls: string[] = [];
    lab.onCall = (what) => calls.push(what);
    await lab.step('finishSecret', token);
    expect(lab.secret().withStage('AWSCURRENT')?.id).toBe(token);
    expect(lab.workingKey()).toBeDefined();
    expect(calls).not.toContain('UpdateSecretVersionStage');
  });

  it.each([{ copies: true }, { copies: false }])(
    'makes no key when Secrets Manager tests a new schedule, with a copy of the current value: $copies',
    async ({ copies }) => {
      const lab = await created();
      lab.onCall = (what) => expect(copies || !what.includes('/api/v2'), 'needs coderd').toBe(true);
      await testRotation(lab.secrets, lab.secret(), { copies, invoke: (event) => lab.serve(event) });
      expect(lab.ownKeys()).toHaveLength(1);
      expect(lab.secret().withStage('AWSPENDING')).toBeUndefined();
      revive(lab);
      await lab.rotate();
      expect(lab.ownKeys()).toHaveLength(2);
    },
  );

  it('does not switch to a key that coderd does not confirm', async () => {
    const lab = await created();
    const before = lab.secret().value;
    const token = lab.announce();
    await lab.step('createSecret', token);
    lab.onAnswer = (_, answer) => ({ ...answer, statusCode: 503, text: 'busy' });
    await expect(lab.step('testSecret', token)).rejects.toThrow('coderd answered 503');
    await expect(lab.step('finishSecret', token)).rejects.toThrow('coderd answered 503');
    expect(lab.secret().value).toBe(before);
  });

  it('writes the tag at the next try if it died after the switch', async () => {
    const lab = await created();
    const token = lab.announce();
    await lab.step('createSecret', token);
    lab.onCall = (what) => {
      if (what === 'TagResource') throw new Error('the function dies');
    };
    await expect(lab.step('finishSecret', token)).rejects.toThrow();
    revive(lab);
    await lab.step('finishSecret', token);
    expect(lab.secret().tags.get(KEY_ID_TAG)).toBe(lab.workingKey()?.id);
  });

  it.each([
    { what: 'without a tag', tags: {}, says: 'it has no tag coder-autoscaler:pool' },
    {
      what: 'of an unknown pool',
      tags: { 'coder-autoscaler:pool': 'gpu' },
      says: 'the configuration has no pool "gpu" with key: managed',
    },
  ])('refuses a secret $what', async ({ tags, says }) => {
    const lab = await created();
    const SecretId = lab.secrets.create('other', tags);
    const event = { Step: 'createSecret', SecretId, ClientRequestToken: 'x'.repeat(32) };
    await expect(lab.serve(event)).rejects.toThrow(says);
    expect(lab.ownKeys()).toHaveLength(1);
  });
});

it('a sweep looks after a pool though the deleted secret of an earlier pool of its name is left', async () => {
  const lab = new KeyLab();
  const tags = { ...Object.fromEntries(lab.secret().tags), [RESOURCE_TAG]: 'deleted request-1 request-2' };
  lab.secrets.create('left/key-of-cpu', tags);
  await lab.resource('Create');
  lab.secrets.put(lab.secretName('cpu'), 'hello');
  await lab.sweep();
  expect(lab.workingKey()).toBeDefined();
});

it('a sweep fails if somebody has deleted the secret of a pool, so that an alarm tells', async () => {
  const lab = await created();
  lab.secrets.delete(lab.secretName('cpu'));
  await expect(lab.sweep()).rejects.toThrow('pool "cpu": the stack has no secret for it; wait for the end');
  expect(lab.ownKeys()).toHaveLength(1);
});

describe('the sweep after a rotation', () => {
  it('deletes the old key once its tasks have stopped and its daemons were not seen for 10 minutes', async () => {
    const lab = await created();
    const task = lab.startTask();
    await lab.rotate();
    const verdicts = async () => {
      const { keys } = await lab.sweep();
      return keys.map(({ verdict }) => verdict);
    };
    expect(await verdicts()).toEqual(['too-young', 'current']);
    lab.pass(17 * HOUR);
    expect(await verdicts()).toEqual(['in-use-by-a-task', 'current']);
    if (task !== undefined) lab.stopTask(task);
    expect(await verdicts()).toEqual(['in-use-by-a-daemon', 'current']);
    lab.pass(11 * MINUTE);
    expect(await verdicts()).toEqual(['deleted', 'current']);
    expect(await verdicts()).toEqual(['current']);
  });

  it('does not wait for a task that has the new key already', async () => {
    const lab = await created();
    await lab.rotate();
    lab.startTask();
    lab.pass(30 * MINUTE);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
    expect(lab.lostTasks()).toEqual([]);
  });

  it.each([
    { what: 'the tasks', call: 'ecs tasks' },
    { what: 'the daemons', call: 'GET /api/v2/organizations/{org}/provisionerdaemons' },
    { what: 'a value of the secret', call: 'GetSecretValue' },
  ])('deletes nothing and fails if $what cannot be read', async ({ call }) => {
    const lab = await created();
    await lab.rotate();
    lab.pass(26 * HOUR);
    lab.onCall = (what) => {
      if (what === call) throw Object.assign(new Error('no answer'), { name: 'ServiceUnavailable' });
    };
    await expect(lab.sweep()).rejects.toThrow('sweeping the keys:');
    expect(lab.ownKeys()).toHaveLength(2);
    revive(lab);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('deletes nothing while a rotation has stored nothing, and tells what to do', async () => {
    const lab = await created();
    await lab.rotate();
    const token = lab.announce();
    lab.pass(26 * HOUR);
    const { pools } = await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(2);
    expect(pools[0]?.problems[0]).toContain('remove the label AWSPENDING');
    for (const step of ROTATION_STEPS) await lab.step(step, token);
    lab.pass(26 * HOUR);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('keeps a previous key that a rollback takes back just before it is deleted', async () => {
    const lab = await created();
    const first = lab.workingKey();
    const other = { ...CPU, tags: { environment: 'cloud' } };
    lab.pools = [other];
    await lab.resource('Update', { pool: other });
    lab.pass(26 * HOUR);
    let describes = 0;
    lab.onCall = (what) => {
      if (what !== 'GET /api/v2/organizations/{org}/provisionerdaemons' || describes++ > 0) return;
      const [previous, current] = ['AWSPREVIOUS', 'AWSCURRENT'].map(
        (stage) => lab.secret().withStage(stage)?.id,
      );
      lab.secret().move('AWSCURRENT', { to: previous, from: current, now: lab.now });
    };
    await lab.sweep();
    expect(describes).toBeGreaterThan(0);
    expect(lab.workingKey()?.id).toBe(first?.id);
  });
});

describe('the sweep', () => {
  it('makes another key if somebody deleted the current one in coderd', async () => {
    const lab = await created();
    lab.coderd.deleteKey('default', lab.workingKey()?.name ?? '');
    const { pools } = await lab.sweep();
    expect(pools).toMatchObject([{ pool: 'cpu', works: 'yes', problems: [] }]);
    expect(lab.workingKey()?.tags).toEqual(CPU.tags);
  });

  it('gives each of 42 pools its turn, though coderd takes 3 s for an answer', async () => {
    const pools = Array.from({ length: 42 }, (_, index) => ({ ...CPU, name: `pool-${index}` }));
    const lab = new KeyLab({ pools });
    for (const pool of pools) await lab.resource('Create', { pool });
    for (const { name } of lab.ownKeys()) lab.coderd.deleteKey('default', name);
    lab.afterCall = (what) => {
      if (what.includes('/api/')) lab.pass(3 * SECOND);
    };
    for (let sweeps = 0; sweeps < 12; sweeps += 1) {
      await sweepInTime(lab);
      lab.pass(15 * MINUTE);
    }
    expect(pools.filter(({ name }) => lab.workingKey(name) === undefined)).toEqual([]);
  });

  it('reads no secret of a stack whose name only begins like its own', async () => {
    const lab = await created();
    lab.secrets.create('other', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Stack2' });
    lab.secrets.create('without-pool', { [STACK_TAG]: 'Stack' });
    const { pools } = await lab.sweep();
    expect(pools).toMatchObject([{ works: 'yes', problems: [] }]);
  });

  it('deletes nothing of a pool with two secrets, as during the replacement of one', async () => {
    const lab = await created();
    await lab.rotate();
    lab.secrets.create('second', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Stack' });
    lab.pass(26 * HOUR);
    await expect(lab.sweep()).rejects.toThrow('the stack has 2 secrets for it');
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it('writes lost tags again, so that old keys can go', async () => {
    const lab = await created();
    await lab.rotate();
    const { tags } = lab.secret();
    for (const tag of [...tags.keys()]) if (tag !== POOL_TAG && tag !== STACK_TAG) tags.delete(tag);
    const { pools, keys } = await lab.sweep();
    expect(lab.log.at(-1)).toEqual({ level: 'info', message: 'sweep', fields: { pools, keys } });
    expect(tags.get(KEY_ID_TAG)).toBe(lab.workingKey()?.id);
    lab.pass(HOUR);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it('reports the keys of its own deployment, in its answer and in its log', async () => {
    const lab = await created();
    addForeignKey(lab, 'by-hand');
    const { keys } = await lab.sweep();
    expect(keys.map(({ name }) => name)).toEqual([lab.workingKey()?.name]);
    expect(lab.log.at(-1)).toMatchObject({ message: 'sweep', fields: { keys } });
  });

  it('makes no key before CloudFormation has created the resource', async () => {
    const lab = new KeyLab();
    const { pools } = await lab.sweep();
    expect(pools[0]?.problems).toEqual(['CloudFormation has not created its key yet']);
    expect(lab.ownKeys()).toEqual([]);
  });

  it('writes nothing if all is well, as each write would put off deletions', async () => {
    const lab = await created();
    const changedAt = lab.secret().changedAt;
    const writes: string[] = [];
    lab.onCall = (what) => {
      if (/^(?:Put|Update|Tag|POST .*keys$|DELETE)/.test(what)) writes.push(what);
    };
    lab.pass(HOUR);
    await lab.sweep();
    expect(writes).toEqual([]);
    expect(lab.secret().changedAt).toBe(changedAt);
  });

  it('looks after the other pools if one secret cannot be read', async () => {
    const gpu = { ...CPU, name: 'gpu' };
    const lab = new KeyLab({ pools: [CPU, gpu] });
    await lab.resource('Create');
    await lab.resource('Create', { pool: gpu });
    lab.coderd.deleteKey('default', lab.workingKey('gpu')?.name ?? '');
    lab.secrets.deny(lab.secretName('cpu'));
    await expect(lab.sweep()).rejects.toThrow('pool "cpu": calling DescribeSecret');
    expect(lab.workingKey('gpu')).toBeDefined();
  });

  it('fails before a rotation does if the role may not create keys any more', async () => {
    const lab = await created();
    lab.token = lab.coderd.addToken({ canRead: 'all' });
    await expect(lab.sweep()).rejects.toThrow(
      'may not create, delete provisioner keys in organization "default"; give it the role organization template admin',
    );
  });

  it('is not stopped by an organization that concerns no pool', async () => {
    const lab = await created({ organizations: ['default', 'closed'] });
    lab.token = lab.coderd.addToken({
      canRead: 'all',
      keyRights: { read: ['default'], create: ['default'], delete: ['default'] },
    });
    await lab.rotate();
    lab.pass(26 * HOUR);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
  });

  it.each(['v2.25.3', 'v2.36.0'])('reads the daemons of coderd %s', async (version) => {
    const lab = await created({ version });
    await lab.rotate();
    lab.pass(26 * HOUR);
    await lab.sweep();
    expect(lab.ownKeys()).toHaveLength(1);
  });
});

describe('the check', () => {
  it('reports pools and all keys with their daemons, foreign ones too, and writes nothing', async () => {
    const lab = await created();
    lab.startTask();
    await lab.rotate();
    addForeignKey(lab, 'by-hand', { a: 'b' });
    lab.pass(26 * HOUR);
    lab.onCall = (what) => expect(what).not.toMatch(/^(?:Put|Update|Tag|POST .*keys$|DELETE)/);
    const { pools, keys, problems } = await lab.check();
    expect(pools).toMatchObject([{ pool: 'cpu', works: 'yes', keyId: lab.workingKey()?.id }]);
    expect(keys).toMatchObject([
      { pool: 'cpu', verdict: 'in-use-by-a-task', daemons: [expect.stringMatching(/^cpu-\d{32}$/)] },
      { pool: 'cpu', verdict: 'current', daemons: [] },
      { name: 'by-hand', verdict: 'foreign', tags: { a: 'b' }, organization: 'default', daemons: [] },
    ]);
    expect(problems).toEqual([]);
  });

  it('deletes no key that the next sweep would delete', async () => {
    const lab = await created();
    await lab.rotate();
    lab.pass(26 * HOUR);
    const { keys } = await lab.check();
    expect(keys.map(({ verdict }) => verdict)).toEqual(['unused', 'current']);
    expect(lab.ownKeys()).toHaveLength(2);
  });

  it.each([
    { what: 'deleted', says: 'coderd does not know the key in its secret' },
    { what: 'garbage', says: 'has no field "key"' },
    { what: 'tags', says: 'has other tags than the pool' },
  ])('says that a pool does not work if its key is $what', async ({ what, says }) => {
    const lab = await created();
    if (what === 'deleted') lab.coderd.deleteKey('default', lab.workingKey()?.name ?? '');
    if (what === 'garbage') lab.secrets.put(lab.secretName('cpu'), 'hello');
    if (what === 'tags') lab.pools = [{ ...CPU, tags: { a: 'b' } }];
    const { pools } = await lab.check();
    expect(pools[0]?.works).toBe('no');
    expect(pools[0]?.problems[0]).toContain(says);
  });

  it('reports what it could not read instead of failing', async () => {
    const lab = await created();
    lab.onAnswer = (_, answer) => ({ ...answer, statusCode: 503, text: '{"message":"maintenance"}' });
    const { pools, problems } = await lab.check();
    expect(pools[0]?.works).toBe('unknown');
    expect(problems.join()).toContain('coderd answered 503: maintenance');
  });
});

it.each([
  { event: undefined, seen: 'undefined' },
  { event: 'sweep', seen: 'string' },
  { event: { tick: true }, seen: 'an object with tick' },
  { event: { sweep: true, key: 'hunter2' }, seen: 'an object with sweep, key' },
  { event: { Step: 'deleteSecret', SecretId: 'x', ClientRequestToken: 'y' }, seen: 'Step, SecretId' },
])('refuses the event $event without repeating its values', async ({ event, seen }) => {
  const lab = new KeyLab();
  await expect(lab.serve(event)).rejects.toThrow(seen);
  await expect(lab.serve(event)).rejects.not.toThrow('hunter2');
});

/** A sweep of a function that Lambda ends after 3 minutes. */
async function sweepInTime(lab: KeyLab): Promise<void> {
  const end = lab.now + 3 * MINUTE;
  lab.onCall = () => {
    if (lab.now >= end) throw new Crash('the function has timed out');
  };
  await lab.sweep().catch(() => {});
}
