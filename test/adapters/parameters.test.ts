/** Parameters with the configuration and with the record of builds, on the simulated Systems Manager. */
import { SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ParameterError, readParameters } from '../../lambda/adapters/parameters/parameters.ts';
import { RecordParameter } from '../../lambda/adapters/parameters/record-parameter.ts';
import type { OrganizationId } from '../../lambda/decision/model/brands.ts';
import { normalizeTags } from '../../lambda/decision/model/tags.ts';
import type { StockRecord } from '../../lambda/look/stock/kept-record.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { NOW } from '../support/parts.ts';
import { serve } from '../support/servers.ts';

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
  const lost = new SSMClient({ endpoint: await serve(() => {}), maxAttempts: 1 });
  await expect(new RecordParameter(lost, NAME, 100).read()).rejects.toThrow(ParameterError);
  lost.destroy();
});

it('joins twelve parameters in the order of their names, with two requests', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `/autoscaler/part-${index + 1}`);
  for (const [index, name] of names.entries()) lab.world.parameters.put(name, `${index + 1};`);
  requests.length = 0;
  expect(await readParameters(client, names)).toBe('1;2;3;4;5;6;7;8;9;10;11;12;');
  expect(requests).toEqual(['ssm GetParameters', 'ssm GetParameters']);
});

it('names every parameter that does not exist', async () => {
  lab.world.parameters.put('/autoscaler/here', 'x');
  await expect(readParameters(client, ['/none/1', '/autoscaler/here', '/none/2'])).rejects.toThrow(
    'reading the configuration: SSM parameter /none/1, /none/2 does not exist; create it again with its value in the template (docs/terraform.md)',
  );
});

it('says what to check if nothing answers', async () => {
  const nowhere = new SSMClient({ endpoint: 'http://127.0.0.1:9', maxAttempts: 1 });
  await expect(readParameters(nowhere, ['/autoscaler/here'])).rejects.toThrow(
    /^reading the configuration: SSM parameters \/autoscaler\/here: .*; check that the function's role may call ssm:GetParameters on them and that the function can reach Systems Manager$/,
  );
  nowhere.destroy();
});
