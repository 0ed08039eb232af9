import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SqsQueue } from '../../lambda/adapters/sqs-queue.ts';
import type { EpochMs } from '../../lambda/decision/model/brands.ts';
import { PayloadError, parsePayload } from '../../lambda/look/relay/payload.ts';
import { type Lab, START, startLab } from '../support/lab.ts';

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
