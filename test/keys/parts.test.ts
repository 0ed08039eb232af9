/** Small parts of the key function: its environment, the tasks that it reads, and secrets as texts. */
import { inspect } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../lambda/adapters/shared/secret.ts';
import { checkConfig } from '../../lambda/config/check.ts';
import { KEY_ID_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import { poolTasks } from '../../lambda/keys/adapters/pool-tasks.ts';
import { SecretsManagerKeys } from '../../lambda/keys/adapters/secrets-manager.ts';
import { connectKeys, readKeysEnvironment } from '../../lambda/keys/connect.ts';
import { KeysError } from '../../lambda/keys/model/keys-error.ts';
import { parseStoredKey, writeStoredKey } from '../../lambda/keys/model/pool.ts';
import { managedPoolsOf } from '../../lambda/keys/serve.ts';
import { readSecretFacts } from '../../lambda/keys/steps/read-keys.ts';
import type { Ecs } from '../../lambda/look/ports.ts';
import { type Lab, type LabPool, labConfig, START, startLab } from '../support/lab.ts';
import { DEPLOYMENT } from './key-lab.ts';

const POOLS: readonly LabPool[] = [
  { name: 'cpu', organization: 'default', tags: {}, desiredCount: 2, capacity: ['spot', 'on-demand'] },
  { name: 'gpu', organization: 'default', tags: { gpu: 'yes' }, desiredCount: 1 },
];

describe('the tasks of pools', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ pools: POOLS });
    lab.pass(120);
  });
  afterAll(() => lab.close());
  const tasksOf = (change: Partial<Ecs> = {}) => {
    const { ecs } = lab.ports();
    const services = () => change.services?.() ?? ecs.services();
    const tasks: Ecs['tasks'] = (of) => change.tasks?.(of) ?? ecs.tasks(of);
    return poolTasks(() => ({ services, tasks }), lab.world.stackName).running();
  };

  it('are listed by pool, on Spot too, with the time of their creation', async () => {
    const running = await tasksOf();
    expect([...running].map(([pool, tasks]) => `${pool} ${tasks.length}`).sort()).toEqual(['cpu 4', 'gpu 1']);
    const [task] = running.get('gpu') ?? [];
    expect(task?.id).toMatch(/^[0-9a-f]{32}$/);
    expect(task?.createdAt).toBeLessThan(lab.world.timeline.now());
  });

  it('are those that have not stopped', async () => {
    const { ecs } = lab.ports();
    const tasks: Ecs['tasks'] = async (of) => {
      const reading = await ecs.tasks(of);
      const items = reading.items.map((task, index) =>
        index === 0 ? { ...task, lastStatus: 'STOPPED' } : task,
      );
      return { ...reading, items };
    };
    const count = (running: ReadonlyMap<string, readonly unknown[]>) =>
      [...running.values()].reduce((sum, { length }) => sum + length, 0);
    expect(count(await tasksOf({ tasks }))).toBe(count(await tasksOf()) - 1);
  });

  it('are old if ECS does not tell when they were created: they may hold any key', async () => {
    const { ecs } = lab.ports();
    const tasks: Ecs['tasks'] = async (of) => {
      const reading = await ecs.tasks(of);
      return { ...reading, items: reading.items.map(({ createdAt: _, ...task }) => task) };
    };
    const running = await tasksOf({ tasks });
    expect([...running.values()].flat().map(({ createdAt }) => createdAt)).toEqual([0, 0, 0, 0, 0]);
  });

  it('are those of this stack', async () => {
    const { ecs } = lab.ports();
    const services = async () => {
      const reading = await ecs.services();
      const items = reading.items.map((service) => ({
        ...service,
        tags: [...service.tags.filter(({ key }) => key !== STACK_TAG), { key: STACK_TAG, value: 'Other' }],
      }));
      return { ...reading, items };
    };
    expect((await tasksOf({ services })).size).toBe(0);
  });

  it.each(['failed', 'truncated', 'forbidden'] as const)('are unknown if a list is %s', async (status) => {
    const reading = { status, error: `listing tasks: ${status}`, items: [] };
    await expect(tasksOf({ tasks: async () => reading })).rejects.toThrow(`listing tasks: ${status}`);
    await expect(tasksOf({ services: async () => reading })).rejects.toThrow(`listing tasks: ${status}`);
  });
});

describe('the environment of the key function', () => {
  const set = {
    AUTOSCALER_CLUSTER: 'cluster',
    AUTOSCALER_STACK: 'Stack',
    AUTOSCALER_STACK_ID: 'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/1',
  };

  it('has the id of the deployment', () => {
    expect(readKeysEnvironment(set, 'autoscaler.yaml')).toMatchObject({
      cluster: 'cluster',
      configFile: 'autoscaler.yaml',
      deployment: { id: DEPLOYMENT.id, stack: 'Stack' },
    });
  });

  it.each([
    { change: { AUTOSCALER_STACK: undefined }, says: 'AUTOSCALER_STACK is not set; name the stack' },
    { change: { AUTOSCALER_STACK: '' }, says: 'AUTOSCALER_STACK is empty' },
    { change: { AUTOSCALER_STACK_ID: undefined }, says: 'AUTOSCALER_STACK_ID is not set' },
    { change: { AUTOSCALER_STACK_ID: 'Stack' }, says: 'AUTOSCALER_STACK_ID is no ARN' },
    { change: { AUTOSCALER_CLUSTER: undefined }, says: 'AUTOSCALER_CLUSTER is not set' },
  ])('names what is wrong: $says', ({ change, says }) => {
    expect(() => readKeysEnvironment({ ...set, ...change }, 'autoscaler.yaml')).toThrow(says);
  });
});

const NO_LOG = { info: () => {}, warn: () => {} };

it('refuses a configuration without managed keys', () => {
  const { config } = checkConfig(labConfig('http://127.0.0.1', POOLS));
  const given = { cluster: 'cluster', caBundle: undefined, deployment: DEPLOYMENT, log: NO_LOG };
  expect(() => connectKeys(config, given)).toThrow('it has no managedKeys; deploy the stack again');
});

it('ends the names of keys with eight letters and digits', () => {
  const settings = { ...labConfig('http://127.0.0.1', POOLS), managedKeys: { token: { secret: 'm' } } };
  const given = { cluster: 'c', caBundle: undefined, deployment: DEPLOYMENT, log: NO_LOG };
  const { ports } = connectKeys(checkConfig(settings).config, given);
  expect(ports.random.suffix()).toMatch(/^[a-z0-9]{8}$/);
});

it('gets only the pools with a managed key, and their organization and tags', () => {
  const pools = POOLS.map(
    (pool): LabPool => (pool.name === 'gpu' ? { ...pool, credential: 'managed' } : pool),
  );
  const { config } = checkConfig(labConfig('http://127.0.0.1', pools));
  expect(managedPoolsOf(config)).toEqual([
    { name: 'gpu', coderUrl: 'http://127.0.0.1', organization: 'default', tags: { gpu: 'yes' } },
  ]);
});

describe('a secret text', () => {
  const secret = new Secret('hunter2');

  it('prints as [secret] in texts, JSON and inspect', () => {
    const shown = [`${secret}`, JSON.stringify({ secret }), inspect({ secret }, { showHidden: true })];
    for (const each of shown) expect(each).toContain('[secret]');
    expect(shown.join()).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });

  it.each([
    { text: 'hello', because: 'it is no JSON' },
    { text: '["a"]', because: 'it is no object' },
    { text: '{"id":"1"}', because: 'it has no key' },
    { text: '{"key":""}', because: 'the key is empty' },
    { text: '{"key":5}', because: 'the key is no text' },
    { text: '{"key":"hunter2\\n"}', because: 'tasks would get the line break' },
    { text: '{"key":"hünter2"}', because: 'no header can carry it' },
    { text: '', because: 'it is empty' },
  ])('with $text holds no key: $because', ({ text }) => {
    expect(parseStoredKey(new Secret(text))).toBeUndefined();
  });

  it('is not quoted by the error for an answer of AWS that is cut or changed', async () => {
    const requestHandler = {
      handle: async () => ({
        response: {
          statusCode: 200,
          headers: { 'content-type': 'application/x-amz-json-1.1' },
          body: new TextEncoder().encode('{"SecretString":hunter2}'),
        },
      }),
    };
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const client = new SecretsManagerClient({ region: 'eu-central-1', credentials, requestHandler });
    const error: unknown = await new SecretsManagerKeys(client)
      .value('arn', 'version')
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(KeysError);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
  });

  it('counts the key that a tag of the secret names as in use, though no version holds it', async () => {
    const held = writeStoredKey({ key: secret, id: 'held', name: 'name', madeFor: 'hash' });
    const secrets = { value: async () => held };
    const versions = [{ id: 'v1', stages: ['AWSCURRENT'] }];
    const info = {
      id: 'arn',
      name: 'secret',
      tags: { [KEY_ID_TAG]: 'published' },
      versions,
      changedAt: START,
    };
    const facts = await readSecretFacts({ secrets }, info);
    expect([...facts.current]).toEqual(['held', 'published']);
    expect(await readSecretFacts({ secrets }, { ...info, tags: {} })).toMatchObject({
      current: new Set(['held']),
    });
  });

  it.each<{
    versions: Readonly<Record<string, readonly string[]>>;
    tag?: string;
    doubt: boolean;
    because: string;
  }>([
    { versions: { key: ['AWSCURRENT'] }, doubt: false, because: 'the current key is known' },
    { versions: {}, doubt: true, because: 'no version is current' },
    { versions: {}, tag: 'key', doubt: true, because: 'no version is current, whatever the tag says' },
    { versions: { garbage: ['AWSCURRENT'] }, doubt: true, because: 'nothing tells which key tasks get' },
    {
      versions: { garbage: ['AWSCURRENT'] },
      tag: 'key',
      doubt: false,
      because: 'the tag tells which key it is',
    },
    { versions: { unread: ['AWSCURRENT'] }, doubt: true, because: 'the current version has no value' },
    { versions: { key: ['AWSCURRENT'], next: ['AWSPENDING'] }, doubt: false, because: 'both keys are known' },
    { versions: { key: ['AWSCURRENT', 'AWSPENDING'] }, doubt: false, because: 'the rotation has ended' },
    {
      versions: { key: ['AWSCURRENT'], unread: ['AWSPENDING'] },
      doubt: true,
      because: 'a key may just be made',
    },
    {
      versions: { key: ['AWSCURRENT'], garbage: ['AWSPENDING'] },
      doubt: true,
      because: 'tasks may get it next',
    },
    { versions: { key: ['AWSCURRENT'], garbage: ['AWSPREVIOUS'] }, doubt: false, because: 'no task gets it' },
  ])('lets old keys be deleted only if $because: in doubt $doubt', async ({ versions, tag, doubt }) => {
    const value = async (_: string, id: string) =>
      id === 'unread'
        ? undefined
        : id === 'garbage'
          ? new Secret('hello')
          : writeStoredKey({ key: secret, id, name: id, madeFor: 'hash' });
    const facts = await readSecretFacts(
      { secrets: { value } },
      {
        id: 'arn',
        name: 'secret',
        tags: tag === undefined ? {} : { [KEY_ID_TAG]: tag },
        versions: Object.entries(versions).map(([id, stages]) => ({ id, stages })),
        changedAt: START,
      },
    );
    expect(facts.inDoubt).toBe(doubt);
    const isCurrent = versions.key?.includes('AWSCURRENT') === true || tag !== undefined;
    expect([...facts.current]).toEqual(isCurrent ? ['key'] : []);
    expect([...facts.pending]).toEqual(versions.next === undefined ? [] : ['next']);
  });

  it.each([
    { fault: 'client', code: 'secret', because: 'AWS refused, so nothing is stored' },
    { fault: 'server', code: 'unanswered', because: 'AWS may have stored it' },
    { fault: undefined, code: 'unanswered', because: 'the answer may be lost' },
  ])('that cannot be put with the fault $fault is $code: $because', async ({ fault, code }) => {
    const send = async () => {
      throw Object.assign(new Error('no'), fault === undefined ? {} : { $fault: fault });
    };
    const put = new SecretsManagerKeys({ send }).put('arn', {
      token: 't',
      value: secret,
      stage: 'AWSCURRENT',
    });
    await expect(put).rejects.toMatchObject({ code });
  });

  it('holds the key that was written, with its id, its name and what it was made for', () => {
    const stored = parseStoredKey(writeStoredKey({ key: secret, id: 'id', name: 'name', madeFor: 'hash' }));
    expect(stored).toMatchObject({ id: 'id', name: 'name', madeFor: 'hash' });
    expect(stored?.key.reveal()).toBe('hunter2');
  });
});
