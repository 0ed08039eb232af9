/** Application Auto Scaling: DescribeScalableTargets, which only people call, and target tracking. */
import { z } from 'zod';
import { type AwsService, operationsFor } from '../base/aws-service.ts';
import type { EcsModel } from './model.ts';

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

const EVERY_MS = 60_000;
const TARGET = 0.5;

type TargetTracking = {
  readonly service: string;
  readonly min: number;
  readonly max: number;
  readonly inUse: () => number;
};

export function trackTarget(model: EcsModel, { service, min, max, inUse }: TargetTracking): void {
  model.scalableTargets.set(service, { min, max });
  const track = (): void => {
    const count = Math.min(max, Math.max(min, Math.ceil(inUse() / TARGET)));
    model.setDesiredCount(service, count);
    model.timeline.after(EVERY_MS, track);
  };
  model.timeline.after(EVERY_MS, track);
}
