/**
 * The handler of the key function with its real clients: coderd with a certificate of its own
 * authority behind a proxy, and the AWS services over HTTP.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { ACCESS_KEY_OF_THE_KEY_FUNCTION, awsHandler } from '../../lab/world/aws-http.ts';
import { coderdHandler } from '../../lab/world/coderd/routes/http.ts';
import { ROTATION_STEPS } from '../../lab/world/secrets/model.ts';
import { World } from '../../lab/world/world.ts';
import { KEY_ID_TAG, POOL_TAG, STACK_TAG } from '../../lambda/decision/model/service-tags.ts';
import type { KeysAnswer } from '../../lambda/keys/model/events.ts';
import { START } from '../support/lab.ts';
import { ownFolder } from '../support/own-folder.ts';
import { type CloseLater, listen, makeCertificate, serve, serveTls } from '../support/servers.ts';
import { CPU, HOUR, keyIn } from './key-lab.ts';

type Handler = (event: unknown, context: unknown) => Promise<unknown>;

const closers: Parameters<CloseLater>[0][] = [];
const closeLater: CloseLater = (close) => closers.push(close);
const folder = ownFolder();
const context = { functionName: 'keys', awsRequestId: 'one', getRemainingTimeInMillis: () => 60_000 };
const written: string[] = [];
const tunnels: string[] = [];
const asked: string[] = [];
let failing: (what: string) => boolean = () => false;
let world: World;
let handler: Handler;
let secretArn: string;

beforeAll(async () => {
  world = new World({ start: START, seed: 1, pools: [{ ...CPU, desiredCount: 0 }], coderVersion: 'v2.36.0' });
  const { coderd, secrets } = world;
  const keyRights = { read: 'all', create: 'all', delete: 'all' } as const;
  secrets.put('coder/key-manager-token', coderd.addToken({ canRead: 'all', keyRights }));
  secretArn = secrets.create('Stack/key-of-cpu', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Stack' });
  const certificate = makeCertificate();
  const answer = coderdHandler(coderd);
  const coderdUrl = await serveTls(
    certificate,
    (request, response) => {
      const what = `${request.method} ${request.url}`;
      asked.push(what);
      if (failing(what)) response.writeHead(500).end('{"message":"broken"}');
      else answer(request, response);
    },
    closeLater,
  );
  const awsUrl = await serve(awsHandler(world), closeLater);
  for (const service of ['ECS', 'SECRETS_MANAGER', 'SSM']) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, awsUrl);
  vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY_OF_THE_KEY_FUNCTION);
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
  writeFileSync(join(folder, 'ca.pem'), certificate.cert);
  writeFileSync(join(folder, 'autoscaler.yaml'), stringify(configOf(coderdUrl, await startProxy())));
  vi.stubEnv('AUTOSCALER_CLUSTER', world.ecs.clusterName);
  vi.stubEnv('AUTOSCALER_CONFIG', join(folder, 'autoscaler.yaml'));
  vi.stubEnv('AUTOSCALER_STACK', 'Stack');
  vi.stubEnv('AUTOSCALER_STACK_ID', 'arn:aws:cloudformation:eu-central-1:123456789012:stack/Stack/1');
  for (const level of ['log', 'info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockImplementation((...said) => void written.push(said.join(' ')));
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const module: { readonly handler: unknown } = await import('../../lambda/keys/handler.ts');
  handler = module.handler as Handler;
});

afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const close of closers) await close();
});

function configOf(url: string, proxy: string): object {
  return {
    coder: { url, proxy, caBundle: 'ca.pem', token: { secret: 'coder/autoscaler-token' } },
    managedKeys: { token: { secret: 'coder/key-manager-token' } },
    limits: { maxTasks: 10 },
    defaults: { image: 'ghcr.io/coder/coder:v2.36.0' },
    pools: [
      { name: 'cpu', organization: 'default', tags: CPU.tags, key: 'managed', max: 2 },
      // its key is not the function's
      { name: 'own', organization: 'default', tags: { own: 'yes' }, key: { secret: 'own' }, max: 2 },
    ],
  };
}

async function startProxy(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(500).end());
  server.on('connect', ({ url = '' }, socket) => {
    tunnels.push(url);
    const [host, port] = url.split(':');
    const onwards = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onwards.pipe(socket).pipe(onwards);
    });
    for (const each of [socket, onwards]) each.on('error', () => {});
  });
  return `http://127.0.0.1:${await listen(server, closeLater)}`;
}

const resource = (RequestType: string): Promise<unknown> =>
  handler(
    {
      RequestType,
      RequestId: 'request-1',
      ResponseURL: 'https://example.com/a-signed-url',
      ResourceProperties: {
        Pool: 'cpu',
        Organization: 'default',
        Tags: JSON.stringify(CPU.tags),
        SecretArn: secretArn,
      },
    },
    context,
  );

it('creates, rotates, checks, sweeps and deletes a key, and logs none', async () => {
  const { coderd, secrets, timeline } = world;
  const keys = () =>
    coderd.keys.list(coderd.organizationId('default')).filter(({ name }) => name.startsWith('stack-'));
  const stored = () => secrets.find(secretArn);

  expect(await resource('Create')).toMatchObject({ PhysicalResourceId: 'key-of-cpu' });
  expect(keys()).toHaveLength(1);
  const secret = stored();
  if (secret === undefined) throw new Error('the secret is missing');
  const token = secrets.announceRotation(secret);
  for (const Step of ROTATION_STEPS)
    await handler({ Step, SecretId: secretArn, ClientRequestToken: token }, context);
  expect(keys()).toHaveLength(2);
  expect(secret.tags.get(KEY_ID_TAG)).toBe(coderd.keys.withSecret(keyIn(secret.value))?.id);

  const checked = (await handler({ check: true }, context)) as KeysAnswer;
  expect(checked.pools).toMatchObject([{ pool: 'cpu', works: 'yes', problems: [] }]);
  expect(checked.keys.map(({ verdict }) => verdict)).toContain('foreign');
  const swept = (await handler({ sweep: true }, context)) as KeysAnswer;
  expect(swept.problems).toEqual([]);

  const all = secret.versions.map(({ value }) => keyIn(value));
  all.push(secrets.find('coder/key-manager-token')?.value ?? '');
  timeline.advanceTo((timeline.now() + 26 * HOUR) as typeof START);
  await resource('Delete');
  expect(keys()).toEqual([]);
  await expect(resource('Update')).rejects.toThrow('this event is late');

  expect(tunnels.length).toBeGreaterThan(0);
  const text = [...written, ...asked].join('\n');
  expect(text).toContain('"message":"rotated the key of a pool"');
  expect(all).toHaveLength(3);
  for (const each of all) expect(text).not.toContain(each);
});

it('sends a request that changes coderd once, though coderd fails', async () => {
  secretArn = world.secrets.create('Stack/second', { [POOL_TAG]: 'cpu', [STACK_TAG]: 'Stack' });
  const before = asked.length;
  failing = (what) => what.startsWith('POST') && what.endsWith('/provisionerkeys');
  await expect(resource('Create')).rejects.toThrow('coderd answered 500: broken');
  failing = () => false;
  expect(asked.slice(before).filter((what) => /^POST .*keys$/.test(what))).toHaveLength(1);
});

it('reads a token again that was replaced in its secret', async () => {
  const { coderd, secrets } = world;
  coderd.tokens.revoke(secrets.find('coder/key-manager-token')?.value ?? '');
  const keyRights = { read: 'all', create: 'all', delete: 'all' } as const;
  secrets.put('coder/key-manager-token', coderd.addToken({ canRead: 'all', keyRights }));
  expect(await resource('Create')).toMatchObject({ PhysicalResourceId: 'key-of-cpu' });
});
