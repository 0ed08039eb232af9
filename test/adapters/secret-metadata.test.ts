/** The metadata of secrets: few calls, never a value, and a status instead of an error. */
import { ListSecretVersionIdsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { namePrefixes, SecretMetadata } from '../../lambda/adapters/secrets/secret-metadata.ts';
import { parseSnapshot, snapshotToJson } from '../../lambda/adapters/snapshot-schema.ts';
import { type EpochMs, plusMs } from '../../lambda/decision/model/brands.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { WantedSecret } from '../../lambda/look/ports.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { aSnapshot, poolName } from '../support/parts.ts';

let lab: Lab;
let calls: string[] = [];
let metadata: SecretMetadata;

beforeAll(async () => {
  const onRequest = ({ service, operation }: { readonly service: string; readonly operation: string }) => {
    if (service === 'secretsmanager') calls.push(operation);
  };
  lab = await startLab({ pools: [{ name: 'cpu', organization: 'default', tags: {} }], onRequest });
  for (let index = 0; index < 130; index += 1) lab.world.secrets.put(`coder/many/${index}`, 'hunter2');
});
afterAll(() => lab.close());
beforeEach(() => {
  calls = [];
  metadata = new SecretMetadata(new SecretsManagerClient({}));
  for (const operation of ['ListSecrets', 'ListSecretVersionIds'])
    lab.world.secrets.allowOperation(operation);
  lab.pass(3_600);
});

const now = (): EpochMs => lab.world.timeline.now();

function wanted(secret: string | undefined, oldestTaskAt?: EpochMs): WantedSecret {
  const kind = secret === undefined ? 'managed' : 'key';
  return { kind, secret, pool: poolName('cpu'), stack: 'Stack', oldestTaskAt };
}

describe('the metadata of secrets', () => {
  it('is read with one call if no task is older than the last change', async () => {
    const { status, items } = await metadata.entries([wanted('coder/keys/cpu', now())], now());
    expect(status).toBe('ok');
    expect(items).toMatchObject([{ Name: 'coder/keys/cpu', Tags: [] }]);
    expect(items[0]).not.toHaveProperty('Versions');
    expect(calls).toEqual(['ListSecrets']);
  });

  it('has the versions of a secret that changed after a task was created', async () => {
    const before = now();
    lab.pass(600);
    lab.world.secrets.put('coder/keys/cpu', 'hunter2');
    const { items } = await metadata.entries(
      [wanted('coder/keys/cpu', before), wanted('coder/many/1', now())],
      now(),
    );
    expect(calls).toEqual(['ListSecrets', 'ListSecretVersionIds']);
    const [cpu] = items;
    expect(cpu?.Versions?.find(({ VersionStages }) => VersionStages.includes('AWSCURRENT'))).toMatchObject({
      CreatedDate: now(),
    });
    expect(cpu?.Versions).toHaveLength(2);
    expect(JSON.stringify(items)).not.toContain('hunter2');
  });

  it('is read at most once a minute, and versions once for each change', async () => {
    const asked = [wanted('coder/keys/cpu', plusMs(now(), -86_400_000))];
    for (let look = 0; look < 19; look += 1) {
      await metadata.entries(asked, now());
      lab.pass(10);
    }
    expect(calls.filter((call) => call === 'ListSecrets')).toHaveLength(4);
    expect(calls.filter((call) => call === 'ListSecretVersionIds')).toHaveLength(1);
    lab.world.secrets.put('coder/keys/cpu', 'another');
    lab.pass(60);
    await metadata.entries(asked, now());
    expect(calls.filter((call) => call === 'ListSecretVersionIds')).toHaveLength(2);
  });

  it('is read again if the clock was set back', async () => {
    await metadata.entries([wanted('coder/keys/cpu')], now());
    await metadata.entries([wanted('coder/keys/cpu')], plusMs(now(), -5_000));
    expect(calls).toHaveLength(2);
  });

  it('is read again at the next look if a task came that is older than the change', async () => {
    lab.world.secrets.put('coder/keys/cpu', 'hunter2');
    await metadata.entries([wanted('coder/keys/cpu')], now());
    const { items } = await metadata.entries([wanted('coder/keys/cpu', now())], plusMs(now(), 1_000));
    expect(items).toMatchObject([{ Versions: [{}, {}] }]);
  });

  it('tells since when a version is current that it saw become so, until another one does', async () => {
    const { secrets } = lab.world;
    const secret = secrets.find('coder/keys/cpu');
    const asked = [wanted('coder/keys/cpu', plusMs(now(), -86_400_000))];
    const since = async () => {
      lab.pass(60);
      return (await metadata.entries(asked, now())).items.map(({ CurrentSince }) => CurrentSince);
    };
    const move = (): EpochMs => {
      const [to, from] = ['AWSPREVIOUS', 'AWSCURRENT'].map((stage) => secret?.withStage(stage)?.id);
      secret?.move('AWSCURRENT', { to, from, now: now() });
      return now();
    };
    expect(await since()).toEqual([undefined]);
    const back = move();
    expect(await since()).toEqual([back]);
    secret?.tag(new Map([['owner', 'platform']]), now());
    expect(await since()).toEqual([back]);
    const forth = move();
    expect(await since()).toEqual([forth]);
    // a list from before the last move
    secrets.listLagMs = 90_000;
    expect(await since()).toEqual([forth]);
    secrets.listLagMs = 0;
    expect(await since()).toEqual([forth]);
  });

  it('does not tell since when if the version was stored after the list before: AWS dates it', async () => {
    const asked = [wanted('coder/keys/cpu', plusMs(now(), -86_400_000))];
    await metadata.entries(asked, now());
    lab.world.secrets.put('coder/keys/cpu', 'newer');
    lab.pass(30);
    lab.world.secrets.find('coder/keys/cpu')?.tag(new Map([['owner', 'platform']]), now());
    lab.pass(30);
    const [entry] = (await metadata.entries(asked, now())).items;
    expect(entry).toMatchObject({ LastChangedDate: plusMs(now(), -30_000) });
    expect(entry).not.toHaveProperty('CurrentSince');
  });

  it('takes no call for pools without secrets', async () => {
    expect(await metadata.entries([], now())).toEqual({ status: 'ok', items: [] });
    expect(calls).toEqual([]);
  });

  it('is read page by page', async () => {
    const names = Array.from({ length: 130 }, (_, index) => `coder/many/${index}`);
    const { items } = await metadata.entries(
      names.map((name) => wanted(name)),
      now(),
    );
    expect(items).toHaveLength(130);
    expect(calls).toEqual(['ListSecrets', 'ListSecrets']);
  });

  it('finds managed secrets by their tags, and keeps no tag of others', async () => {
    const { secrets } = lab.world;
    secrets.create('made', {
      [POOL_TAG]: 'cpu',
      [STACK_TAG]: 'Stack',
      [KEY_ID_TAG]: 'id',
      owner: 'somebody',
    });
    secrets.create('made-elsewhere', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Other', [KEY_ID_TAG]: 'no' });
    const { items } = await metadata.entries([wanted(undefined), wanted('coder/keys/cpu')], now());
    expect(items.map(({ Name }) => Name).toSorted()).toEqual(['coder/keys/cpu', 'made']);
    expect(items.find(({ Name }) => Name === 'made')?.Tags.map(({ Key }) => Key)).toEqual([
      POOL_TAG,
      STACK_TAG,
      KEY_ID_TAG,
    ]);
    expect(calls).toEqual(['ListSecrets', 'ListSecrets']);
  });

  it('has a secret once that two lists have', async () => {
    lab.world.secrets.create('coder/tagged', { [POOL_TAG]: 'gpu' });
    lab.world.secrets.put('coder/tagged', 'hunter2');
    const { items } = await metadata.entries([wanted('coder/tagged'), wanted(undefined)], now());
    expect(items.map(({ Name }) => Name)).toContain('coder/tagged');
  });

  it('has no versions if they contradict the list, which may be five minutes old', async () => {
    const { secrets } = lab.world;
    const asked = [wanted('coder/keys/cpu', plusMs(now(), -86_400_000))];
    secrets.listLagMs = 300_000;
    secrets.put('coder/keys/cpu', 'newer');
    const [stale] = (await metadata.entries(asked, now())).items;
    expect(stale).not.toHaveProperty('Versions');
    lab.pass(301);
    const [entry] = (await metadata.entries(asked, now())).items;
    expect(entry?.Versions).toHaveLength(2);
    secrets.listLagMs = 0;
  });

  it('survives as JSON in a snapshot, without fields that no schema names', async () => {
    const secrets = await metadata.entries([wanted('coder/keys/cpu', plusMs(now(), -86_400_000))], now());
    const snapshot = { ...aSnapshot(), secrets };
    const written: unknown = JSON.parse(JSON.stringify(snapshotToJson(snapshot)));
    expect(parseSnapshot(written).secrets).toEqual(secrets);
    expect(JSON.stringify(written)).not.toContain('SecretVersionsToStages');
  });
});

describe('metadata that cannot be read', () => {
  it('is forbidden without the permission to list, and asks once a minute', async () => {
    lab.world.secrets.denyOperation('ListSecrets');
    const reading = await metadata.entries([wanted('coder/keys/cpu')], now());
    expect(reading).toEqual({
      status: 'forbidden',
      error:
        'listing the secrets of the pools: User: arn:aws:sts::123456789012:assumed-role/autoscaler/session is not authorized to perform: secretsmanager:ListSecrets because no identity-based policy allows the secretsmanager:ListSecrets action',
      items: [],
    });
    // the SDK tries again because the world's clock is not its own
    const tries = calls.length;
    await metadata.entries([wanted('coder/keys/cpu')], plusMs(now(), 10_000));
    expect(calls).toHaveLength(tries);
  });

  it('keeps the list without the permission to read versions', async () => {
    lab.world.secrets.denyOperation('ListSecretVersionIds');
    const old = plusMs(now(), -86_400_000);
    const reading = await metadata.entries([wanted('coder/keys/cpu', old)], now());
    expect(reading).toMatchObject({ status: 'forbidden', items: [{ Name: 'coder/keys/cpu' }] });
    expect(reading.error).toMatch(/^listing versions of secret "coder\/keys\/cpu": .* is not authorized/);
    const tries = calls.length;
    await metadata.entries([wanted('coder/keys/cpu', old)], plusMs(now(), 10_000));
    expect(calls).toHaveLength(tries);
  });

  it('reads the versions at the next look if AWS did not tell them for a moment', async () => {
    const client = new SecretsManagerClient({});
    const send = client.send.bind(client);
    const throttled = (command: Parameters<typeof send>[0]) =>
      command instanceof ListSecretVersionIdsCommand
        ? Promise.reject(new Error('Rate exceeded'))
        : send(command);
    Object.assign(client, { send: throttled });
    const asked = [wanted('coder/keys/cpu', plusMs(now(), -86_400_000))];
    const briefly = new SecretMetadata(client);
    expect(await briefly.entries(asked, now())).toMatchObject({
      status: 'failed',
      items: [expect.not.objectContaining({ Versions: expect.anything() })],
    });
    Object.assign(client, { send });
    const { items } = await briefly.entries(asked, plusMs(now(), 1_000));
    expect(items).toMatchObject([{ Name: 'coder/keys/cpu', Versions: expect.anything() }]);
  });

  it('is the earlier list, stale, if AWS does not answer', async () => {
    const first = await metadata.entries([wanted('coder/keys/cpu')], now());
    const broken = new SecretsManagerClient({ endpoint: 'http://127.0.0.1:9', maxAttempts: 1 });
    const silent = new SecretMetadata(broken);
    expect(await silent.entries([wanted('coder/keys/cpu')], now())).toMatchObject({
      status: 'failed',
      items: [],
    });
    Object.assign(broken, { send: new SecretsManagerClient({}).send.bind(new SecretsManagerClient({})) });
    const again = await silent.entries([wanted('coder/keys/cpu')], plusMs(now(), 60_000));
    expect(again.items).toEqual(first.items);
    Object.assign(broken, { send: () => Promise.reject(new Error('no route')) });
    expect(await silent.entries([wanted('coder/keys/cpu')], plusMs(now(), 120_000))).toMatchObject({
      status: 'stale',
      takenAt: plusMs(now(), 60_000),
      error: 'listing the secrets of the pools: no route',
      items: first.items,
    });
  });
});

describe('the names that one list filters by', () => {
  const many = (count: number, name: (index: number) => string): readonly string[] =>
    Array.from({ length: count }, (_, index) => name(index));

  it.each([
    { secrets: ['b', 'a', 'b'], expected: ['a', 'b'], because: 'each name once' },
    {
      secrets: ['arn:aws:secretsmanager:eu-central-1:111122223333:secret:coder/keys/cpu-AbCdEf'],
      expected: ['coder/keys/cpu'],
      because: 'an ARN has the name and a suffix',
    },
    {
      secrets: ['arn:aws:secretsmanager:eu-central-1:111122223333:secret:coder/keys/cpu'],
      expected: ['coder/keys/cpu'],
      because: 'the suffix may be missing',
    },
    {
      secrets: [...many(12, (index) => `coder/keys/${index}`), 'terraform/token'],
      expected: ['coder/keys/', 'terraform/token'],
      because: 'more than ten names share their beginnings',
    },
    { secrets: many(12, (index) => `${'abcdefghijkl'[index]}`), expected: [], because: 'nothing is shared' },
  ])('are $expected for $secrets: $because', ({ secrets, expected }) => {
    const prefixes = namePrefixes(secrets);
    expect(prefixes.length).toBeLessThanOrEqual(10);
    for (const name of expected) expect(prefixes.some((prefix) => prefix.startsWith(name))).toBe(true);
    if (expected.length === 0) expect(prefixes).toEqual([]);
  });
});

describe('the list of secrets', () => {
  const row = (Name: string) => ({ ARN: `arn:${Name}`, Name, Tags: [] });
  const client = (answer: (filters: unknown) => object) =>
    Object.assign(new SecretsManagerClient({}), {
      send: async ({ input }: { input: { Filters?: unknown } }) => answer(input.Filters),
    });

  it('fails if a row cannot be read: the secret of a pool may be one of those', async () => {
    const list = new SecretMetadata(client(() => ({ SecretList: [row('a'), { Name: 'b' }] })));
    const { status, items, error } = await list.entries([wanted('a', now()), wanted('b', now())], now());
    expect({ status, names: items.map(({ Name }) => Name) }).toEqual({ status: 'failed', names: ['a'] });
    expect(error).toContain('"b"');
  });

  it('is forbidden, and not stale, once the role may not read it any more', async () => {
    let isAllowed = true;
    const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    const answer = () => {
      if (!isAllowed) throw denied;
      return { SecretList: [row('a')] };
    };
    const list = new SecretMetadata(client(answer));
    expect((await list.entries([wanted('a', now())], now())).status).toBe('ok');
    isAllowed = false;
    lab.pass(60);
    expect(await list.entries([wanted('a', now())], now())).toMatchObject({ status: 'forbidden', items: [] });
  });

  it.each([
    { secrets: [undefined], filters: ['tag-key'], because: 'managed secrets have a tag' },
    { secrets: ['a'], filters: ['name'], because: 'others are known by name' },
    { secrets: ['a', undefined], filters: ['name', 'tag-key'], because: 'filters are joined by AND' },
  ])('of $secrets is asked for by $filters: $because', async ({ secrets, filters }) => {
    const asked: unknown[] = [];
    const answer = (given: unknown) => {
      asked.push(given);
      return { SecretList: [] };
    };
    const all = secrets.map((secret) => wanted(secret, now()));
    await new SecretMetadata(client(answer)).entries(all, now());
    expect(asked).toMatchObject(filters.map((Key) => [{ Key }]));
  });

  it('is asked for by ten names as they are, and by fewer beginnings of more names in any order', () => {
    const names = ['j', 'b/2', 'i', 'h', 'b/1', 'g', 'f', 'e', 'd', 'c'];
    expect(namePrefixes(names)).toEqual(names.toSorted());
    expect(namePrefixes([...names, 'a'])).toEqual(['a', 'b/', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']);
  });

  it('has no filter if the names have no common beginning', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `${String.fromCharCode(97 + index)}/key`);
    const filters: unknown[] = [];
    const list = new SecretMetadata(
      client((given) => {
        filters.push(given);
        return { SecretList: names.map(row) };
      }),
    );
    const all = names.map((name) => wanted(name, now()));
    expect((await list.entries(all, now())).items).toHaveLength(11);
    expect(filters).toEqual([[]]);
  });
});
