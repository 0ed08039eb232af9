/**
 * DescribeScalableTargets (Application Auto Scaling API Reference): the services that Application
 * Auto Scaling sizes. The function's role may not call it.
 */
import { z } from 'zod';
import { type AwsService, operationsFor } from '../base/aws-service.ts';
import type { EcsModel } from '../ecs/model.ts';

const PAGE = 50;

const operation = operationsFor<EcsModel>('ValidationException');

export const APPLICATION_AUTO_SCALING: AwsService<EcsModel> = {
  service: 'application-autoscaling',
  operations: {
    DescribeScalableTargets: operation(
      ['person'],
      z.object({ ServiceNamespace: z.literal('ecs'), NextToken: z.string().optional() }),
      (model, { NextToken = '0' }) => {
        const to = Number(NextToken) + PAGE;
        const all = [...model.scalableTargets].map(([service, { min, max }]) => ({
          ServiceNamespace: 'ecs',
          ScalableDimension: 'ecs:service:DesiredCount',
          ResourceId: `service/${model.clusterName}/${service}`,
          MinCapacity: min,
          MaxCapacity: max,
        }));
        return {
          ScalableTargets: all.slice(Number(NextToken), to),
          ...(to < all.length ? { NextToken: `${to}` } : {}),
        };
      },
    ),
  },
};
