/** The parameter with the record of builds, on the simulated Systems Manager. */
import { createServer } from 'node:net';
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ParameterError } from '../../lambda/adapters/parameters/parameters.ts';
import { RecordParameter } from '../../lambda/adapters/parameters/record-parameter.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import type { StockRecord } from '../../lambda/look/stock/stock-record.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { NOW } from '../support/parts.ts';

const NAME = '/coder-provisioner-autoscaler/Stack/record';
const builds = Array.from({ length: 5_000 }, (_, index) => ({
  at: NOW - (5_000 - index) * 61_000 + ((index * 7919) % 53) * 1000,
  tookMs: (1 + ((index * 104_729) % 997)) * 1000,
}));
const recordOf = (kept: typeof builds): StockRecord => ({
  organizations: [
    { id: 'data' as OrganizationId, upTo: NOW, logs: [{ tags: normalizeTags({}), builds: kept }] },
  ],
  choices: [],
});
const record = recordOf(builds.slice(-3));

let lab: Lab;
let client: SSMClient;
const requests: string[] = [];
beforeAll(async () => {
  lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {} }],
    onRequest: ({ service, operation }) => requests.push(`${service} ${operation}`),
  });
  client = new SSMClient({ maxAttempts: 1 });
});
afterAll(async () => {
  client.destroy();
  await lab.close();
});

it('keeps a record with one request, and reads it with one', async () => {
  lab.world.parameters.put(NAME, 'none');
  const store = new RecordParameter(client, NAME);
  requests.length = 0;
  await expect(store.read()).resolves.toBeUndefined();
  await store.write(record);
  await expect(store.read()).resolves.toEqual(record);
  expect(requests).toEqual(['ssm GetParameters', 'ssm PutParameter', 'ssm GetParameters']);
});

it('keeps as many builds as an advanced parameter holds', async () => {
  const store = new RecordParameter(client, NAME);
  await store.write(recordOf(builds));
  const kept = (await store.read())?.organizations[0]?.logs[0]?.builds ?? [];
  expect(kept.length).toBeGreaterThan(1_500);
  expect(kept).toEqual(builds.slice(-kept.length));
});

it('creates a deleted parameter again', async () => {
  lab.world.parameters.delete(NAME);
  const store = new RecordParameter(client, NAME);
  await expect(store.read()).resolves.toBeUndefined();
  await store.write(record);
  await expect(store.read()).resolves.toEqual(record);
});

it('names the parameter and what to check if the role may not read or write it', async () => {
  lab.world.parameters.deny('/denied/record');
  const store = new RecordParameter(client, '/denied/record');
  await expect(store.read()).rejects.toThrow(
    /^reading the record of builds: SSM parameter \/denied\/record: .*not authorized to perform: ssm:GetParameters.*; scaling goes on without it\. Check that the function can reach Systems Manager/,
  );
  await expect(store.write(record)).rejects.toThrow(/^writing the record of builds: .*ssm:PutParameter/);
});

it('gives up when Systems Manager accepts the connection and never answers', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const lost = new SSMClient({ endpoint: `http://127.0.0.1:${port}`, maxAttempts: 1 });
  await expect(new RecordParameter(lost, NAME).read()).rejects.toThrow(ParameterError);
  lost.destroy();
  silent.close();
});
