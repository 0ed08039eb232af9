import { SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readParameters } from '../../lambda/adapters/parameters/parameters.ts';
import { type Lab, startLab } from '../support/lab.ts';

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
    'reading the configuration: SSM parameter /none/1, /none/2 does not exist; create it again with its value in the template (docs/construct.md)',
  );
});

it('says what to check if nothing answers', async () => {
  const nowhere = new SSMClient({ endpoint: 'http://127.0.0.1:9', maxAttempts: 1 });
  await expect(readParameters(nowhere, ['/autoscaler/here'])).rejects.toThrow(
    /^reading the configuration: SSM parameters \/autoscaler\/here: .*; check that the function's role may call ssm:GetParameters on them and that the function can reach Systems Manager$/,
  );
  nowhere.destroy();
});
