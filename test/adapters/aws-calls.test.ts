import { afterEach, expect, it } from 'vitest';
import { type Connection, connect } from '../../lambda/connect.ts';
import { type Lab, startLab } from '../support/lab.ts';

const asked: Record<string, number> = {};
let lab: Lab;
let connection: Connection;
async function start(): Promise<Connection> {
  lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
    onRequest: ({ service }) => {
      asked[service] = (asked[service] ?? 0) + 1;
    },
  });
  connection = connect(lab.config, lab.world.ecs.clusterName, undefined);
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
