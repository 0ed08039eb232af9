/**
 * Tests the simulated Secrets Manager: versions, labels, tags, rotation (docs/internals/aws.md §4).
 */
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../../lambda/decision/model/brands.ts';
import { START } from '../../../../test/support/lab.ts';
import { type Caller, callService } from '../../../world/base/aws-service.ts';
import { Random } from '../../../world/base/random.ts';
import { Timeline } from '../../../world/base/timeline.ts';
import { SECRETS_MANAGER } from '../../../world/secrets/api.ts';
import { runRotation, SecretsModel } from '../../../world/secrets/model.ts';

const TOKENS = ['1', '2', '3'].map((digit) => digit.repeat(32)) as [string, string, string];
const [ONE, TWO, THREE] = TOKENS;

function manager() {
  const timeline = new Timeline(START);
  const model = new SecretsModel({ timeline, random: new Random(1) });
  const call = (name: string, body: object, caller: Caller = 'keys') =>
    callService(SECRETS_MANAGER, model, { name, body: { SecretId: 'key', ...body }, caller }) as Record<
      string,
      unknown
    >;
  const stages = () => call('DescribeSecret', {}).VersionIdsToStages;
  const put = (token: string, value: string, labels?: readonly string[]) =>
    call('PutSecretValue', {
      ClientRequestToken: token,
      SecretString: value,
      ...(labels && { VersionStages: labels }),
    });
  const pass = (ms: number) => timeline.advanceTo(plusMs(timeline.now(), ms));
  return { model, call, stages, put, pass };
}

/** With a secret that has no value yet. */
function empty() {
  const made = manager();
  made.model.create('key', { pool: 'cpu', stack: 'Stack' });
  return made;
}

describe('a secret without a value', () => {
  it('can be described and listed, and has no value to get', () => {
    const { call, stages } = empty();
    expect(stages()).toEqual({});
    expect(() => call('GetSecretValue', {})).toThrow("can't find the specified secret value");
    expect(call('ListSecrets', {}).SecretList).toMatchObject([{ Name: 'key', SecretVersionsToStages: {} }]);
  });

  it('makes its first version the current one, whatever its labels', () => {
    const { stages, put } = empty();
    put(ONE, 'a', ['AWSPENDING']);
    expect(stages()).toEqual({ [ONE]: ['AWSCURRENT', 'AWSPENDING'] });
  });
});

describe('PutSecretValue', () => {
  it('moves AWSCURRENT to the new version and AWSPREVIOUS to the old one', () => {
    const { stages, put } = empty();
    for (const [token, value] of [
      [ONE, 'a'],
      [TWO, 'b'],
      [THREE, 'c'],
    ] as const)
      put(token, value);
    expect(stages()).toEqual({ [TWO]: ['AWSPREVIOUS'], [THREE]: ['AWSCURRENT'] });
  });

  it('ignores the same token with the same value, and refuses it with another', () => {
    const { stages, put } = empty();
    put(ONE, 'a');
    put(TWO, 'b');
    put(ONE, 'a');
    expect(stages()).toEqual({ [ONE]: ['AWSPREVIOUS'], [TWO]: ['AWSCURRENT'] });
    expect(() => put(ONE, 'z')).toThrow('already exists with a different value');
  });

  it('takes a label away from the version that had it', () => {
    const { stages, put } = empty();
    put(ONE, 'a');
    put(TWO, 'b', ['AWSPENDING']);
    put(THREE, 'c', ['AWSPENDING']);
    expect(stages()).toEqual({ [ONE]: ['AWSCURRENT'], [THREE]: ['AWSPENDING'] });
  });
});

describe('UpdateSecretVersionStage', () => {
  it('moves AWSCURRENT, and AWSPREVIOUS after it', () => {
    const { call, stages, put } = empty();
    put(ONE, 'a');
    put(TWO, 'b', ['AWSPENDING']);
    const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: TWO, RemoveFromVersionId: ONE };
    call('UpdateSecretVersionStage', move);
    expect(stages()).toEqual({ [ONE]: ['AWSPREVIOUS'], [TWO]: ['AWSPENDING', 'AWSCURRENT'] });
  });

  it('refuses to move a label without the version that has it', () => {
    const { call, put } = empty();
    put(ONE, 'a');
    put(TWO, 'b', ['AWSPENDING']);
    const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: TWO };
    expect(() => call('UpdateSecretVersionStage', move)).toThrow("RemoveFromVersionId can't be empty");
  });

  it('refuses a version that does not exist', () => {
    const { call } = empty();
    const move = { VersionStage: 'AWSCURRENT', MoveToVersionId: TWO };
    expect(() => call('UpdateSecretVersionStage', move)).toThrow("can't find");
  });
});

describe('GetSecretValue', () => {
  it('finds a version by label, by id, or by both if they belong together', () => {
    const { call, put } = empty();
    put(ONE, 'a');
    put(TWO, 'b');
    expect(call('GetSecretValue', {})).toMatchObject({ SecretString: 'b', VersionId: TWO });
    expect(call('GetSecretValue', { VersionStage: 'AWSPREVIOUS' })).toMatchObject({ SecretString: 'a' });
    expect(call('GetSecretValue', { VersionId: ONE })).toMatchObject({ SecretString: 'a' });
    expect(() => call('GetSecretValue', { VersionId: ONE, VersionStage: 'AWSCURRENT' })).toThrow(
      "can't find",
    );
  });
});

describe('the metadata of secrets', () => {
  it('has the last change of any kind, a tag included', () => {
    const { call, put, pass } = empty();
    pass(1000);
    put(ONE, 'a');
    pass(1000);
    call('TagResource', { Tags: [{ Key: 'key-id', Value: 'x' }] });
    const described = call('DescribeSecret', {});
    expect(described.LastChangedDate).toEqual(new Date(START + 2000));
    expect(described.Tags).toContainEqual({ Key: 'key-id', Value: 'x' });
    expect(call('ListSecretVersionIds', {}).Versions).toEqual([
      { VersionId: ONE, CreatedDate: new Date(START + 1000), VersionStages: ['AWSCURRENT'] },
    ]);
  });

  it('is filtered by the beginning of tags, and contains no value', () => {
    const { model, call, put } = empty();
    model.create('other', { stack: 'Other' });
    put(ONE, 'hunter2');
    const listed = call('ListSecrets', { Filters: [{ Key: 'tag-value', Values: ['Sta'] }] });
    expect(listed.SecretList).toMatchObject([{ Name: 'key' }]);
    expect(JSON.stringify([listed, call('DescribeSecret', {})])).not.toContain('hunter2');
  });
});

describe('a secret marked for deletion', () => {
  it('refuses all but DescribeSecret', () => {
    const { model, call, put } = empty();
    model.delete('key');
    expect(call('DescribeSecret', {}).DeletedDate).toBeDefined();
    expect(() => put(ONE, 'a')).toThrow('marked for deletion');
    expect(call('ListSecrets', {}).SecretList).toEqual([]);
  });
});

describe('roles', () => {
  it.each([
    { caller: 'autoscaler', name: 'PutSecretValue' },
    { caller: 'autoscaler', name: 'TagResource' },
    { caller: 'autoscaler', name: 'DescribeSecret' },
    { caller: 'keys', name: 'RotateSecret' },
    { caller: 'keys', name: 'DeleteSecret' },
  ] as const)('deny $name to $caller', ({ caller, name }) => {
    expect(() => empty().call(name, {}, caller)).toThrow(`not authorized to perform: secretsmanager:${name}`);
  });
});

describe('a rotation', () => {
  it('announces a version without a value, and runs four steps with its id', async () => {
    const { model, stages, put } = empty();
    put(ONE, 'a');
    const asked: string[] = [];
    const secret = model.find('key');
    if (secret === undefined) throw new Error('the secret is missing');
    await runRotation(model, secret, {
      token: TWO,
      invoke: async ({ Step, ClientRequestToken }) => {
        asked.push(`${Step} ${ClientRequestToken === TWO}`);
        expect(stages()).toEqual({ [ONE]: ['AWSCURRENT'], [TWO]: ['AWSPENDING'] });
      },
    });
    expect(asked).toEqual(['createSecret true', 'setSecret true', 'testSecret true', 'finishSecret true']);
    expect(() => model.announceRotation(secret)).toThrow("A previous rotation isn't complete");
  });

  it('begins again with the same token after a step that failed', async () => {
    const { model, put } = empty();
    put(ONE, 'a');
    const secret = model.find('key');
    if (secret === undefined) throw new Error('the secret is missing');
    const tokens: string[] = [];
    const token = await runRotation(model, secret, {
      attempts: 2,
      invoke: async ({ Step, ClientRequestToken }) => {
        tokens.push(ClientRequestToken);
        if (Step === 'testSecret' && tokens.length < 4) throw new Error('no answer');
      },
    });
    expect(tokens).toEqual(Array.from({ length: 7 }, () => token));
  });
});
