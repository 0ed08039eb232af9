import {
  DescribeServicesCommand,
  DescribeTasksCommand,
  ECSClient,
  GetTaskProtectionCommand,
  ListServicesCommand,
  ListTasksCommand,
  StopTaskCommand,
  UpdateServiceCommand,
  UpdateTaskProtectionCommand,
} from '@aws-sdk/client-ecs';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import { type Requested, type ServedWorld, serveWorld } from '../../../world/serve.ts';
import { World } from '../../../world/world.ts';
import { MINUTE, SECOND, START } from './ecs-fixture.ts';

const requests: Requested[] = [];
let now = START;
let world: World;
let served: ServedWorld;
let ecs: ECSClient;
let secrets: SecretsManagerClient;

beforeEach(async () => {
  requests.length = 0;
  now = START;
  world = new World({
    start: START,
    seed: 3,
    pools: [{ name: 'gpu', organization: 'data', tags: { gpu: 'yes' }, desiredCount: 3 }],
  });
  served = await serveWorld(world, { clock: () => now, onRequest: (what) => requests.push(what) });
  const client = { region: 'eu-central-1', endpoint: served.awsUrl, maxAttempts: 1 };
  ecs = new ECSClient(client);
  secrets = new SecretsManagerClient(client);
});

afterEach(async () => {
  ecs.destroy();
  secrets.destroy();
  await served.close();
});

const pass = (ms: number) => {
  now = (now + ms) as EpochMs;
};

describe('the simulated AWS API, called with the real SDK', () => {
  it('answers reads, drain requests and changes of the desired count', async () => {
    const cluster = world.ecs.clusterName;
    pass(3 * MINUTE);
    const { serviceArns: services } = await ecs.send(new ListServicesCommand({ cluster }));
    const described = await ecs.send(new DescribeServicesCommand({ cluster, services, include: ['TAGS'] }));
    const service = described.services?.[0];
    expect(service).toMatchObject({
      serviceName: expect.stringMatching(/^Stack-PoolGpuService-[0-9A-F]{12}$/),
      runningCount: 3,
      tags: [
        { key: 'coder-autoscaler:pool', value: 'gpu' },
        { key: 'coder-autoscaler:log-group', value: world.logGroupName },
        { key: 'coder-autoscaler:stack', value: world.stackName },
        { key: 'coder-autoscaler:organization', value: 'data' },
        { key: 'coder-autoscaler:scale-in', value: 'lease' },
      ],
      createdAt: new Date(START),
      deployments: [{ status: 'PRIMARY', rolloutState: 'COMPLETED', desiredCount: 3 }],
    });
    const { taskArns: tasks } = await ecs.send(
      new ListTasksCommand({ cluster, serviceName: service?.serviceName }),
    );
    const seen = await ecs.send(new DescribeTasksCommand({ cluster, tasks }));
    expect(seen.tasks?.map((task) => task.lastStatus)).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
    expect(seen.tasks?.[0]?.startedAt).toBeInstanceOf(Date);
    const asked = await ecs.send(
      new UpdateTaskProtectionCommand({
        cluster,
        tasks: tasks?.slice(0, 1),
        protectionEnabled: true,
        expiresInMinutes: 1380,
      }),
    );
    expect(asked.protectedTasks).toMatchObject([{ expirationDate: new Date(now + 1380 * MINUTE) }]);
    const held = await ecs.send(new GetTaskProtectionCommand({ cluster, tasks }));
    expect(held.protectedTasks).toHaveLength(3);
    const updated = await ecs.send(
      new UpdateServiceCommand({ cluster, service: service?.serviceName, desiredCount: 2 }),
    );
    expect(updated.service).toMatchObject({ desiredCount: 2, runningCount: 3 });
    pass(2 * MINUTE);
    const left = await ecs.send(new ListTasksCommand({ cluster }));
    expect(left.taskArns).toHaveLength(2);
    expect(requests[0]).toEqual({ service: 'ecs', operation: 'ListServices' });
    expect(requests).toHaveLength(8);
  });

  it('throws the exceptions that the SDK knows', async () => {
    const cluster = world.ecs.clusterName;
    await expect(ecs.send(new ListServicesCommand({}))).rejects.toMatchObject({
      name: 'ClusterNotFoundException',
    });
    await expect(ecs.send(new StopTaskCommand({ cluster, task: 'x' }))).rejects.toMatchObject({
      name: 'AccessDeniedException',
      $metadata: { httpStatusCode: 400, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    await expect(
      ecs.send(new UpdateServiceCommand({ cluster, service: 'no', desiredCount: 1 })),
    ).rejects.toMatchObject({ name: 'ServiceNotFoundException', message: 'Service not found.' });
  });

  it('throttles, and the SDK reports it', async () => {
    const { clusterName: cluster } = world.ecs;
    const calls = Array.from({ length: 60 }, () =>
      ecs.send(
        new UpdateServiceCommand({ cluster, service: world.service('gpu').identity.name, desiredCount: 3 }),
      ),
    );
    const refused = (await Promise.allSettled(calls)).filter((call) => call.status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]?.reason).toMatchObject({ name: 'ThrottlingException', message: 'Rate exceeded' });
    pass(SECOND);
    await expect(
      ecs.send(
        new UpdateServiceCommand({ cluster, service: world.service('gpu').identity.name, desiredCount: 3 }),
      ),
    ).resolves.toBeDefined();
  });

  it('returns secrets by name and by ARN, and refuses unknown ones', async () => {
    const byName = await secrets.send(new GetSecretValueCommand({ SecretId: world.tokenSecretName }));
    expect(byName.SecretString).toMatch(/.{10,}/);
    const byArn = await secrets.send(new GetSecretValueCommand({ SecretId: byName.ARN }));
    expect(byArn.SecretString).toBe(byName.SecretString);
    const key = await secrets.send(new GetSecretValueCommand({ SecretId: 'coder/keys/gpu' }));
    expect(key.SecretString).toHaveLength(43);
    await expect(secrets.send(new GetSecretValueCommand({ SecretId: 'other' }))).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  it.each([
    { headers: {}, body: '{}', type: 'UnknownOperationException' },
    {
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue' },
      body: '{}',
      type: 'MissingAuthenticationTokenException',
    },
    {
      headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem', authorization: 'AWS4-HMAC-SHA256 x' },
      body: '{}',
      type: 'UnknownOperationException',
    },
    {
      headers: { 'x-amz-target': 'secretsmanager.GetSecretValue', authorization: 'AWS4-HMAC-SHA256 x' },
      body: '{',
      type: 'SerializationException',
    },
    {
      headers: { 'x-amz-target': 'secretsmanager.PutSecretValue', authorization: 'AWS4-HMAC-SHA256 x' },
      body: '{}',
      type: 'AccessDeniedException',
    },
  ])('answers $headers $body with $type', async ({ headers, body, type }) => {
    const response = await fetch(served.awsUrl, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ __type: type });
  });

  it('shows the same world as coderd', async () => {
    pass(3 * MINUTE);
    const { SecretString: token = '' } = await secrets.send(
      new GetSecretValueCommand({ SecretId: world.tokenSecretName }),
    );
    const organization = world.coderd.organizationId('data');
    const url = `${served.coderdUrl}/api/v2/organizations/${organization}/provisionerdaemons?limit=0`;
    const response = await fetch(url, { headers: { 'Coder-Session-Token': token } });
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(3);
    expect(requests.at(-1)).toEqual({
      service: 'coderd',
      operation: `GET /api/v2/organizations/${organization}/provisionerdaemons`,
    });
  });
});
