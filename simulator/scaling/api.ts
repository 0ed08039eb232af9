/**
 * DescribeScalableTargets (Application Auto Scaling API Reference): the services that Application
 * Auto Scaling sizes. The function's role may not call it.
 */
import { z } from 'zod';
import type { EcsModel } from '../ecs/model.ts';
import { AwsError, type Caller } from '../ecs/requests/errors.ts';

const request = z.object({ ServiceNamespace: z.literal('ecs'), NextToken: z.string().optional() });
const PAGE = 50;

/** Calls one operation of Application Auto Scaling by its name. */
export function callScaling(model: EcsModel, name: string, body: unknown, caller: Caller): object {
  if (name !== 'DescribeScalableTargets' || caller !== 'person')
    throw new AwsError(
      'AccessDeniedException',
      `User: arn:aws:sts::123456789012:assumed-role/${caller}/session is not authorized to perform: application-autoscaling:${name}`,
    );
  const parsed = request.safeParse(body);
  if (!parsed.success) throw new AwsError('ValidationException', z.prettifyError(parsed.error));
  const from = Number(parsed.data.NextToken ?? 0);
  const all = [...model.scalableTargets].map(([service, { min, max }]) => ({
    ServiceNamespace: 'ecs',
    ScalableDimension: 'ecs:service:DesiredCount',
    ResourceId: `service/${model.clusterName}/${service}`,
    MinCapacity: min,
    MaxCapacity: max,
  }));
  return {
    ScalableTargets: all.slice(from, from + PAGE),
    ...(from + PAGE < all.length ? { NextToken: `${from + PAGE}` } : {}),
  };
}
