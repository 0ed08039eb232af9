import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AwsError } from '../ecs/requests/errors.ts';
import type { QueueModel } from './model.ts';

const sendMessageRequest = z.object({
  QueueUrl: z.string().min(1),
  MessageBody: z.string().min(1),
  DelaySeconds: z.int().min(0).max(900),
});

/** Calls one operation of SQS by its name. The function calls only SendMessage. */
export function callQueue(model: QueueModel, name: string, body: unknown): object {
  if (name !== 'SendMessage')
    throw new AwsError('AccessDeniedException', `not authorized to perform: sqs:${name}`);
  const request = sendMessageRequest.safeParse(body);
  if (!request.success) throw new AwsError('InvalidParameterValue', z.prettifyError(request.error));
  const { MessageBody, DelaySeconds } = request.data;
  model.send(MessageBody, DelaySeconds);
  return {
    MessageId: randomUUID(),
    // only the client over HTTP reads it
    get MD5OfMessageBody() {
      return createHash('md5').update(MessageBody).digest('hex');
    },
  };
}
