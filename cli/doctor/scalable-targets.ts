/** Checks that Application Auto Scaling does not size the pools' services too. */

import {
  ApplicationAutoScalingClient,
  paginateDescribeScalableTargets,
  type ScalableTarget,
} from '@aws-sdk/client-application-auto-scaling';
import { EACH_TRY, endingWith, isDenied } from '../../lambda/adapters/shared/aws-calls.ts';
import { messageOf } from '../../lambda/decision/model/message-of.ts';
import type { Service } from '../../lambda/decision/model/snapshot.ts';
import { PATIENT } from '../shared/aws-advice.ts';
import { type Check, fail, ok, warn } from './check.ts';

export const SCALABLE_TARGETS = 'application auto scaling';

const DIMENSION = { ServiceNamespace: 'ecs', ScalableDimension: 'ecs:service:DesiredCount' } as const;

export async function checkScalableTargets(services: readonly Service[], until: AbortSignal): Promise<Check> {
  const client = new ApplicationAutoScalingClient({ requestHandler: PATIENT });
  client.middlewareStack.add(endingWith(until), EACH_TRY);
  try {
    const own = new Set(services.map(resourceOf));
    const targets = (await listTargets(client)).filter(({ ResourceId = '' }) => own.has(ResourceId));
    return targets.length === 0
      ? ok(SCALABLE_TARGETS, 'no service of a pool is a scalable target')
      : fail(SCALABLE_TARGETS, targets.map(sentenceOf).join('; '));
  } catch (cause) {
    const advice = isDenied(cause)
      ? 'You need application-autoscaling:DescribeScalableTargets for this check'
      : 'Try again';
    return warn(SCALABLE_TARGETS, `listing scalable targets: ${messageOf(cause)}. ${advice}`);
  } finally {
    client.destroy();
  }
}

/** `service/<cluster>/<service>`: the last part of the ARN. */
function resourceOf({ serviceArn }: Service): string {
  return serviceArn.slice(serviceArn.lastIndexOf(':') + 1);
}

async function listTargets(client: ApplicationAutoScalingClient): Promise<readonly ScalableTarget[]> {
  const targets: ScalableTarget[] = [];
  for await (const page of paginateDescribeScalableTargets({ client }, DIMENSION))
    targets.push(...(page.ScalableTargets ?? []));
  return targets;
}

function sentenceOf({ ResourceId, MinCapacity, MaxCapacity }: ScalableTarget): string {
  return `Application Auto Scaling also sizes ${ResourceId} (${MinCapacity} to ${MaxCapacity} tasks), so two autoscalers change one count. Run: aws application-autoscaling deregister-scalable-target --service-namespace ecs --scalable-dimension ${DIMENSION.ScalableDimension} --resource-id ${ResourceId}`;
}
