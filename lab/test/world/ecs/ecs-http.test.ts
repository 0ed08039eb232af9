/** AWS's protocols over HTTP, as the SDK reads them. Tests of the adapters use the rest. */
import { ECSClient, ListServicesCommand, UpdateServiceCommand } from '@aws-sdk/client-ecs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Requested, type ServedWorld, serveWorld } from '../../../world/serve.ts';
import { World } from '../../../world/world.ts';
import { MINUTE, START } from './ecs-fixture.ts';

let world: World;
let served: ServedWorld;
let now = START;
const requests: Requested[] = [];

beforeEach(async () => {
  const pool = { name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, desiredCount: 3 };
  world = new World({ start: START, seed: 3, pools: [pool] });
  requests.length = 0;
  now = START;
  served = await serveWorld(world, { clock: () => now, onRequest: (what) => requests.push(what) });
});
afterEach(() => served.close());

it('gives the SDK dates, and errors that it knows, on the clock of the caller', async () => {
  const ecs = new ECSClient({ region: 'eu-central-1', endpoint: served.awsUrl, maxAttempts: 1 });
  const service = world.service('gpu').identity.name;
  const update = new UpdateServiceCommand({ cluster: world.ecs.clusterName, service, desiredCount: 2 });
  now = (START + 3 * MINUTE) as typeof START;
  const updated = await ecs.send(update);
  expect(updated.service).toMatchObject({ desiredCount: 2, runningCount: 3, createdAt: new Date(START) });
  await expect(ecs.send(new ListServicesCommand({}))).rejects.toMatchObject({
    name: 'ClusterNotFoundException',
    $metadata: { httpStatusCode: 400, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
  expect(requests.map(({ operation }) => operation)).toEqual(['UpdateService', 'ListServices']);
  ecs.destroy();
});

it.each([
  { target: '', body: '{}', type: 'UnknownOperationException' },
  { target: 'DynamoDB_20120810.GetItem', body: '{}', type: 'UnknownOperationException' },
  {
    target: 'secretsmanager.GetSecretValue',
    body: '{}',
    by: '',
    type: 'MissingAuthenticationTokenException',
  },
  { target: 'secretsmanager.GetSecretValue', body: '{', type: 'SerializationException' },
  { target: 'secretsmanager.PutSecretValue', body: '{}', type: 'AccessDeniedException' },
])('answers $type to $target with the body $body', async ({ target, body, type, by }) => {
  const headers = { 'x-amz-target': target, authorization: by ?? 'AWS4-HMAC-SHA256 x' };
  const response = await fetch(served.awsUrl, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ __type: type });
});
