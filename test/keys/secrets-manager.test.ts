/** What the key function sends to Secrets Manager, what it reads of each answer, and what its errors say. */
import { describe, expect, it } from 'vitest';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import type { KeysError } from '../../lambda/keys/model/keys-error.ts';

type Command = { readonly constructor: { readonly name: string }; readonly input: object };

/** Secrets Manager with these answers, one for each call. The last one repeats. */
function managerWith(...answers: readonly (object | Error)[]) {
  const sent: (readonly [operation: string, input: object])[] = [];
  const send = async (command: Command): Promise<object> => {
    const answer = answers[Math.min(sent.length, answers.length - 1)] ?? {};
    sent.push([command.constructor.name.replace(/Command$/, ''), command.input]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { keys: new SecretsManagerKeys({ send: send as never }), sent };
}

const fault = (name: string, $fault?: 'client' | 'server'): Error =>
  Object.assign(new Error('hunter2 is wrong'), { name }, $fault === undefined ? {} : { $fault });

const VERSION = { token: 'token', value: new Secret('hunter2'), stage: 'AWSPENDING' };
const CALLS = {
  DescribeSecret: (keys: SecretsManagerKeys) => keys.describe('arn'),
  GetSecretValue: (keys: SecretsManagerKeys) => keys.value('arn', 'v1'),
  PutSecretValue: (keys: SecretsManagerKeys) => keys.put('arn', VERSION),
  UpdateSecretVersionStage: (keys: SecretsManagerKeys) =>
    keys.move('arn', { stage: 'AWSCURRENT', to: 'v2', from: 'v1' }),
  TagResource: (keys: SecretsManagerKeys) => keys.tag('arn', { a: '1', b: '2' }),
} as const;
type Operation = keyof typeof CALLS;

async function errorOf(operation: Operation, answer: Error | object): Promise<KeysError> {
  return CALLS[operation](managerWith(answer).keys).then(
    () => expect.unreachable(),
    (cause: KeysError) => cause,
  );
}

it.each([
  ['DescribeSecret', { SecretId: 'arn' }],
  ['GetSecretValue', { SecretId: 'arn', VersionId: 'v1' }],
  [
    'PutSecretValue',
    {
      SecretId: 'arn',
      SecretString: 'hunter2',
      ClientRequestToken: 'token',
      VersionStages: ['AWSPENDING'],
    },
  ],
  [
    'UpdateSecretVersionStage',
    { SecretId: 'arn', VersionStage: 'AWSCURRENT', MoveToVersionId: 'v2', RemoveFromVersionId: 'v1' },
  ],
  [
    'TagResource',
    {
      SecretId: 'arn',
      Tags: [
        { Key: 'a', Value: '1' },
        { Key: 'b', Value: '2' },
      ],
    },
  ],
] as const)('sends with %s: %o', async (operation, input) => {
  const { keys, sent } = managerWith({});
  await CALLS[operation](keys);
  expect(sent).toEqual([[operation, input]]);
});

describe('an error of AWS', () => {
  const OTHERS = ['DescribeSecret', 'UpdateSecretVersionStage', 'TagResource'] as const;

  it.each(OTHERS)('to %s says what AWS said, and names the right that may be missing', async (operation) => {
    const cause = fault('AccessDeniedException', 'client');
    const error = await errorOf(operation, cause);
    expect(error.message).toBe(
      `calling ${operation} of secret arn: hunter2 is wrong; check that the role of the key function may call secretsmanager:${operation}`,
    );
    expect(error).toMatchObject({ code: 'secret', cause });
  });

  it.each(OTHERS)('to %s that proves nothing is no refusal', async (operation) => {
    expect(await errorOf(operation, fault('InternalServiceError', 'server'))).toMatchObject({
      code: 'unanswered',
    });
  });

  it.each(['ResourceNotFoundException', 'InvalidRequestException'])(
    'named %s says that the secret is gone',
    async (name) => {
      for (const operation of OTHERS) {
        const cause = fault(name, 'client');
        const error = await errorOf(operation, cause);
        expect(error.message).toBe('using secret arn: hunter2 is wrong');
        expect(error).toMatchObject({ code: 'secret-gone', cause });
      }
    },
  );

  it('to PutSecretValue is shown by its name only: its text could repeat the value', async () => {
    const refused = await errorOf('PutSecretValue', fault('ValidationException', 'client'));
    expect(refused.message).toBe(
      'calling PutSecretValue of secret arn: ValidationException; check that the role of the key function may call secretsmanager:PutSecretValue',
    );
    expect([refused.code, refused.cause]).toEqual(['secret', undefined]);
    const gone = await errorOf('PutSecretValue', fault('InvalidRequestException', 'client'));
    expect(gone.message).toBe('using secret arn: InvalidRequestException');
    expect([gone.code, gone.cause]).toEqual(['secret-gone', undefined]);
  });

  it('to PutSecretValue that is no error object is shown without its text', async () => {
    const send = async () => Promise.reject('hunter2');
    const put = new SecretsManagerKeys({ send: send as never }).put('arn', VERSION);
    await expect(put).rejects.toMatchObject({
      code: 'unanswered',
      message: expect.stringMatching(/^calling PutSecretValue of secret arn: ; check/),
    });
  });

  it('tells that a version with this token has another value already', async () => {
    const { keys } = managerWith(fault('ResourceExistsException', 'client'));
    expect(await keys.put('arn', VERSION)).toBe('exists');
    expect(await managerWith({}).keys.put('arn', VERSION)).toBe('stored');
  });
});

describe('a value', () => {
  it('is undefined only if AWS says that the version does not exist', async () => {
    const { keys } = managerWith(fault('ResourceNotFoundException', 'client'));
    expect(await keys.value('arn', 'v1')).toBeUndefined();
    expect(await errorOf('GetSecretValue', fault('DecryptionFailure', 'client'))).toMatchObject({
      code: 'secret',
    });
    expect(await errorOf('GetSecretValue', fault('TimeoutError'))).toMatchObject({ code: 'unanswered' });
  });

  it('is the text of the secret, or empty if the secret has bytes', async () => {
    expect((await managerWith({ SecretString: 'hunter2' }).keys.value('arn', 'v1'))?.reveal()).toBe(
      'hunter2',
    );
    expect((await managerWith({}).keys.value('arn', 'v1'))?.reveal()).toBe('');
  });

  it('that is cut says so without the answer', async () => {
    const error = await errorOf('GetSecretValue', new SyntaxError('Unexpected token h: hunter2'));
    expect(error.message).toBe('calling GetSecretValue of secret arn: the answer is no JSON');
    expect([error.code, error.cause]).toEqual(['unanswered', undefined]);
  });
});

describe('a secret', () => {
  const CREATED = new Date('2026-03-01T09:00:00Z');
  const CHANGED = new Date('2026-03-02T09:00:00Z');

  it('has its name, tags, versions with their labels, and the time of its last change', async () => {
    const { keys } = managerWith({
      ARN: 'arn',
      Name: 'key-of-cpu',
      Tags: [{ Key: 'a', Value: '1' }, { Key: 'b' }],
      VersionIdsToStages: { v1: ['AWSPREVIOUS'], v2: ['AWSCURRENT', 'AWSPENDING'] },
      CreatedDate: CREATED,
      LastChangedDate: CHANGED,
    });
    expect(await keys.describe('arn')).toEqual({
      id: 'arn',
      name: 'key-of-cpu',
      tags: { a: '1', b: '' },
      versions: [
        { id: 'v1', stages: ['AWSPREVIOUS'] },
        { id: 'v2', stages: ['AWSCURRENT', 'AWSPENDING'] },
      ],
      changedAt: CHANGED.getTime(),
    });
  });

  it('of which AWS tells little has the safest values: it has just changed', async () => {
    expect(await managerWith({}).keys.describe('arn')).toEqual({
      ...{ id: '', name: '', tags: {}, versions: [] },
      changedAt: Number.MAX_SAFE_INTEGER,
    });
    expect(await managerWith({ CreatedDate: CREATED }).keys.describe('arn')).toMatchObject({
      changedAt: CREATED.getTime(),
    });
  });

  it('that is scheduled for deletion is gone', async () => {
    const error = await errorOf('DescribeSecret', { ARN: 'arn', DeletedDate: CHANGED });
    expect(error.message).toBe('using secret arn: it is scheduled for deletion');
    expect(error.code).toBe('secret-gone');
  });
});

describe('the secrets of a stack', () => {
  const aSecret = (ARN: string, stack: string, pool?: string) => ({
    ARN,
    Tags: [
      { Key: 'coder-autoscaler:stack', Value: stack },
      ...(pool === undefined ? [] : [{ Key: 'coder-autoscaler:pool', Value: pool }]),
    ],
    SecretVersionsToStages: { v1: ['AWSCURRENT'] },
  });

  it('are those of all pages that have its tag and that of a pool', async () => {
    const { keys, sent } = managerWith(
      { SecretList: [aSecret('one', 'Stack', 'cpu'), aSecret('longer', 'Stack2', 'cpu')], NextToken: 'next' },
      { NextToken: 'last' },
      { SecretList: [aSecret('two', 'Stack', 'gpu'), aSecret('other', 'Stack')] },
    );
    const found = await keys.ofStack('Stack');
    expect(found.map(({ id, versions }) => [id, versions])).toEqual([
      ['one', [{ id: 'v1', stages: ['AWSCURRENT'] }]],
      ['two', [{ id: 'v1', stages: ['AWSCURRENT'] }]],
    ]);
    const Filters = [
      { Key: 'tag-key', Values: ['coder-autoscaler:stack'] },
      { Key: 'tag-value', Values: ['Stack'] },
    ];
    expect(sent).toEqual(
      [undefined, 'next', 'last'].map((NextToken) => [
        'ListSecrets',
        { Filters, MaxResults: 100, NextToken },
      ]),
    );
  });

  it('are unknown if their list has no end', async () => {
    const listing = managerWith({ SecretList: [], NextToken: 'again' }).keys.ofStack('Stack');
    await expect(listing).rejects.toMatchObject({
      code: 'unanswered',
      message:
        'listing the secrets of stack Stack: ListSecrets gave one page token twice, so the rest is not read',
    });
  });

  it('are unknown if AWS refuses to list them', async () => {
    const listing = managerWith(fault('AccessDeniedException', 'client')).keys.ofStack('Stack');
    await expect(listing).rejects.toMatchObject({
      code: 'secret',
      message:
        'calling ListSecrets of secret of stack Stack: hunter2 is wrong; check that the role of the key function may call secretsmanager:ListSecrets',
    });
  });
});
