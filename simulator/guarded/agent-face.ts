/**
 * Answers a task's requests to `ECS_AGENT_URI` and `ECS_CONTAINER_METADATA_URI_V4`
 * (docs/internals/aws.md §1).
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import type { AgentAnswer, ContainerHost } from '../ecs/parts/container.ts';
import type { DockerStats } from '../task/container-usage.ts';

/** An HTTP answer: the status, and a body that is sent as JSON. */
export type FaceAnswer = { readonly status: number; readonly body: object | null | undefined };

/** The agent refuses unknown fields. */
const PROTECTION = z.strictObject({
  ProtectionEnabled: z.boolean(),
  ExpiresInMinutes: z.int().positive().optional(),
});
const DEFAULT_MINUTES = 120;

/** Answers GET or PUT `/task-protection/v1/state`; `body` is that of a PUT. */
export function answerProtection(
  host: ContainerHost,
  { method, body }: { readonly method: string; readonly body: string },
): Promise<FaceAnswer> {
  return new Promise((resolve) => {
    const answer = (from: AgentAnswer): void => resolve(protectionAnswer(host.taskArn, from));
    if (method === 'GET') {
      host.agent.look(answer);
      return;
    }
    const asked = PROTECTION.safeParse(parseQuietly(body));
    if (!asked.success) resolve(refusal(host.taskArn, { status: 400, code: 'InvalidParameterException' }));
    else if (asked.data.ProtectionEnabled)
      host.agent.protect(asked.data.ExpiresInMinutes ?? DEFAULT_MINUTES, answer);
    else host.agent.release(answer);
  });
}

/** Answers GET `/task` of the metadata, version 4. */
export function answerMetadata(host: ContainerHost): FaceAnswer {
  const status = { DesiredStatus: host.agent.desiredStatus(), KnownStatus: 'RUNNING' };
  const containers = [{ Name: 'provisioner', DesiredStatus: 'RUNNING', KnownStatus: 'RUNNING' }];
  return { status: 200, body: { TaskARN: host.taskArn, ...status, Containers: containers } };
}

/** Answers GET `/stats`: Docker's statistics of the container; `null` if there are none. */
export function answerStats(stats: DockerStats | undefined): FaceAnswer {
  return { status: 200, body: stats ?? null };
}

function protectionAnswer(taskArn: string, answer: AgentAnswer): FaceAnswer {
  if (answer.kind === 'error') return refusal(taskArn, { status: 500, code: answer.code });
  if (answer.kind === 'failure')
    return { status: 200, body: { failure: { Arn: taskArn, Reason: answer.reason, Detail: null } } };
  const { enabled, expiresAt } = answer;
  const expiry = enabled && expiresAt !== undefined ? new Date(expiresAt).toISOString() : null;
  return {
    status: 200,
    body: {
      protection: {
        ExpirationDate: expiry?.replace(/\.\d+/, '') ?? null,
        ProtectionEnabled: enabled,
        TaskArn: taskArn,
      },
    },
  };
}

function refusal(
  taskArn: string,
  { status, code }: { readonly status: number; readonly code: string },
): FaceAnswer {
  return { status, body: { requestID: randomUUID(), error: { Arn: taskArn, Code: code, Message: code } } };
}
