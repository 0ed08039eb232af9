import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { LookMessage, LookQueue } from '../look/relay/relay.ts';

/** A queue of SQS that is an event source of the function. lambda/look/relay/payload.ts reads its messages. */
export class SqsQueue implements LookQueue {
  readonly #client: SQSClient;
  readonly #url: string;

  constructor(client: SQSClient, url: string) {
    this.#client = client;
    this.#url = url;
  }

  async send(message: LookMessage, delayS: number): Promise<void> {
    const MessageBody = JSON.stringify(message);
    await this.#client.send(
      new SendMessageCommand({ QueueUrl: this.#url, MessageBody, DelaySeconds: delayS }),
    );
  }
}
