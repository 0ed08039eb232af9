import { afterEach, expect, it, vi } from 'vitest';
import { type Connection, type ConnectOptions, connect } from '../../lambda/connect.ts';
import { type Lab, startLab } from '../support/lab.ts';

const asked: Record<string, number> = {};
let lab: Lab;
let connection: Connection;
async function start(options: ConnectOptions = {}): Promise<Connection> {
  lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
    onRequest: ({ service }) => {
      asked[service] = (asked[service] ?? 0) + 1;
    },
  });
  connection = connect(lab.config, lab.world.ecs.clusterName, undefined, options);
  return connection;
}
afterEach(async () => {
  await connection.close();
  await lab.close();
});

it('counts each request to each service once', async () => {
  const { calls, ports } = await start();
  await ports().coderd.organizations();
  await ports().ecs.services();
  const counted = calls.take();
  expect(counted.ecs).toEqual({ requests: 2, throttled: 0 });
  expect(asked).toEqual({
    coderd: counted.coderd.requests,
    ecs: counted.ecs.requests,
    secretsmanager: counted['secrets-manager'].requests,
  });
  expect(calls.take().ecs).toEqual({ requests: 0, throttled: 0 });
});

it('counts throttled requests and the retries of the SDK', async () => {
  const { calls, ports } = await start();
  const { arn } = lab.world.service('cpu').identity;
  // the bucket of 50, on a clock that does not move
  for (let count = 0; count < 50; count++) await ports().ecs.setDesired(arn, 0);
  await expect(ports().ecs.setDesired(arn, 0)).rejects.toThrow('Rate exceeded');
  expect(calls.take().ecs).toEqual({ requests: 53, throttled: 3 });
});

it('tells of each answer of coderd and AWS, and of none when AWS does not answer', async () => {
  let answers = 0;
  const { calls, ports } = await start({
    onAnswer: () => {
      answers += 1;
    },
  });
  await ports().coderd.organizations();
  const { coderd, 'secrets-manager': secrets } = calls.take();
  expect(answers).toBe(coderd.requests + secrets.requests);
  vi.stubEnv('AWS_ENDPOINT_URL_ECS', 'http://127.0.0.1:1');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  const lost = connect(lab.config, 'any', undefined, { onAnswer: () => expect.unreachable() });
  expect((await lost.ports().ecs.services()).error).toMatch(/ECONNREFUSED/);
  await lost.close();
  vi.unstubAllEnvs();
});
