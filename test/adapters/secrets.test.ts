import { inspect } from 'node:util';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Secrets } from '../../lambda/adapters/secrets/secrets.ts';
import { type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
let secrets: Secrets;
beforeAll(async () => {
  lab = await startLab({ pools: [{ name: 'cpu', organization: 'default', tags: {} }] });
  lab.world.secrets.put('plain', 'hunter2\n');
  lab.world.secrets.put('json', '{"token":"hunter2","port":5432}');
  lab.world.secrets.put('blank', ' ');
  secrets = new Secrets(new SecretsManagerClient({}));
});
afterAll(() => lab.close());

it.each([
  { ref: { secret: 'plain' }, because: 'white space around the value is removed' },
  { ref: { secret: 'json', jsonKey: 'token' }, because: 'jsonKey selects a value of a JSON object' },
])('reads $ref: $because', async ({ ref }) => {
  expect((await secrets.read(ref)).reveal()).toBe('hunter2');
});

it.each([
  {
    ref: { secret: 'none' },
    message:
      /reading secret "none": Secrets Manager can't find the specified secret; create it with its value, or correct its name/i,
  },
  {
    ref: { secret: 'plain', jsonKey: 'token' },
    message:
      /reading secret "plain": it is not a JSON object, so it has no key "token"; store a JSON object, or remove jsonKey/,
  },
  {
    ref: { secret: 'json', jsonKey: 'key' },
    message: /reading secret "json": the key "key" has no string value; the keys in the secret: token, port/,
  },
  { ref: { secret: 'json', jsonKey: 'port' }, message: /the key "port" has no string value/ },
  { ref: { secret: 'json', jsonKey: 'toString' }, message: /the key "toString" has no string value/ },
  { ref: { secret: 'blank' }, message: /reading secret "blank": the secret is empty/ },
])('refuses $ref without repeating the value', async ({ ref, message }) => {
  const error = await secrets.read(ref).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toMatch(message);
  expect(
    JSON.stringify([error, (error as Error).message, (error as Error).stack, String((error as Error).cause)]),
  ).not.toContain('hunter2');
});

it('does not quote an answer of AWS that is cut or changed', async () => {
  const response = {
    statusCode: 200,
    headers: { 'content-type': 'application/x-amz-json-1.1' },
    body: new TextEncoder().encode('{"SecretString":hunter2}'),
  };
  const client = new SecretsManagerClient({ requestHandler: { handle: async () => ({ response }) } });
  const error: unknown = await new Secrets(client).read({ secret: 'cut' }).catch((cause: unknown) => cause);
  expect(String(error)).toMatch(/reading secret "cut": the answer of Secrets Manager is no JSON/);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
});

it('tells you to set the region if it is missing', async () => {
  const handle = () => Promise.reject(new Error('Region is missing'));
  const client = new SecretsManagerClient({ requestHandler: { handle } });
  await expect(new Secrets(client).read({ secret: 'a' })).rejects.toThrow('; set AWS_REGION');
});

it('caches a value until a fresh one is requested', async () => {
  lab.world.secrets.put('rotated', 'old');
  expect((await secrets.read({ secret: 'rotated' })).reveal()).toBe('old');
  lab.world.secrets.put('rotated', 'new');
  expect((await secrets.read({ secret: 'rotated' })).reveal()).toBe('old');
  expect((await secrets.read({ secret: 'rotated' }, { fresh: true })).reveal()).toBe('new');
});

it('distinguishes a forbidden secret from a missing one', async () => {
  lab.world.secrets.put('closed', 'hunter2');
  lab.world.secrets.deny('closed');
  await expect(secrets.read({ secret: 'closed' })).rejects.toMatchObject({
    name: 'SecretError',
    code: 'denied',
  });
  await expect(secrets.read({ secret: 'none' })).rejects.toMatchObject({ code: 'missing' });
});
