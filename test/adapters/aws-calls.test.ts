import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeAwsError } from '../../lambda/adapters/shared/aws-calls.ts';
import { SqsQueue } from '../../lambda/adapters/sqs-queue.ts';
import { type Connection, type ConnectOptions, connect } from '../../lambda/connect.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { PayloadError, parsePayload } from '../../lambda/look/relay/payload.ts';
import { type Lab, START, startLab } from '../support/lab.ts';

const asked: Record<string, number> = {};
let lab: Lab;
async function start(options: ConnectOptions = {}): Promise<Connection> {
  lab = await startLab({
    pools: [{ name: 'cpu', organization: 'default', tags: {}, desiredCount: 0 }],
    onRequest: ({ service }) => {
      asked[service] = (asked[service] ?? 0) + 1;
    },
  });
  const connection = connect(lab.config, lab.world.ecs.clusterName, undefined, options);
  onTestFinished(() => connection.close());
  return connection;
}
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

const URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/looks';
const MESSAGE = { sentAt: START, until: (START + 55_000) as EpochMs };

/** The event with which Lambda invokes the function for these messages. */
const eventOf = (...bodies: readonly string[]) => ({
  Records: bodies.map((body) => ({
    messageId: '059f36b4-87a3-44ab-83d2-661975830a7d',
    receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
    body,
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(START) },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:looks',
    awsRegion: 'eu-central-1',
  })),
});

describe('the queue of the next looks', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ pools: [{ name: 'cpu', organization: 'default', tags: {} }] });
  });
  afterAll(() => lab.close());

  const queue = () => new SqsQueue(new SQSClient({ endpoint: lab.awsUrl, maxAttempts: 1 }), URL);

  it('invokes the function with the message after its delay', async () => {
    const bodies: string[] = [];
    lab.world.queue.handler = async (body) => bodies.push(body);
    await queue().send(MESSAGE, 9);
    lab.pass(9);
    await Promise.resolve();
    expect(bodies).toEqual([]);
    lab.pass(1);
    await Promise.resolve();
    expect(bodies.map((body) => parsePayload(eventOf(body)))).toEqual([{ kind: 'look', message: MESSAGE }]);
  });

  it('throws if SQS refuses the message', async () => {
    lab.world.queue.isDown = true;
    await expect(queue().send(MESSAGE, 9)).rejects.toThrow('not authorized to perform: sqs:SendMessage');
  });
});

it.each([
  { name: 'a batch of two', event: eventOf(JSON.stringify(MESSAGE), JSON.stringify(MESSAGE)) },
  { name: 'an empty batch', event: eventOf() },
  { name: 'a body that is no JSON', event: eventOf('tick') },
  { name: 'a body without its times', event: eventOf('{"until":1}') },
])('a payload with $name is refused', ({ event }) => {
  expect(() => parsePayload(event)).toThrow(PayloadError);
});

it.each([
  {
    cause: Object.assign(new Error('no'), { name: 'AccessDeniedException' }),
    ...{ reason: 'AccessDeniedException: no', isForbidden: true },
  },
  { cause: new TypeError('fetch failed'), reason: 'TypeError: fetch failed', isForbidden: false },
  { cause: 'broken', reason: 'broken', isForbidden: false },
])('describes an error of AWS as $reason, and as forbidden: $isForbidden', ({ cause, ...expected }) => {
  expect(describeAwsError(cause)).toEqual(expected);
});
