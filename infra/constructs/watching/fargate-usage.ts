/**
 * The share of the Fargate vCPU quota that the account uses in this region, derived from
 * CloudWatch's usage metrics. It includes tasks of other services.
 */
import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type DeployedPool, partsOn } from '../../../lambda/config/rules/deployment.ts';

/** On-demand and Spot tasks have separate quotas (docs/internals/aws.md §2). */
export type FargateCapacity = {
  readonly name: 'on-demand' | 'spot';
  readonly quotaCode: 'L-3032A538' | 'L-36FBB829';
  /** Value of the dimension `Class` (ECS developer guide, "AWS Fargate usage metrics"). */
  readonly usageClass: 'Standard/OnDemand' | 'Standard/Spot';
  /** Its id in expressions: one graph may show both capacities, and an id must be unique in it. */
  readonly id: 'usedOnDemand' | 'usedSpot';
};

const ON_DEMAND: FargateCapacity = {
  name: 'on-demand',
  quotaCode: 'L-3032A538',
  usageClass: 'Standard/OnDemand',
  id: 'usedOnDemand',
};
const SPOT: FargateCapacity = {
  name: 'spot',
  quotaCode: 'L-36FBB829',
  usageClass: 'Standard/Spot',
  id: 'usedSpot',
};

/** The capacities that these pools use. */
export function capacitiesOf(pools: readonly DeployedPool[]): readonly FargateCapacity[] {
  return [ON_DEMAND, SPOT].filter(({ name }) => partsOn(name, pools).length > 0);
}

/** The share of the quota in use, in percent. */
export function usedQuota({ name, usageClass, id }: FargateCapacity): MathExpression {
  const period = Duration.minutes(5);
  const used = new Metric({
    namespace: 'AWS/Usage',
    metricName: 'ResourceCount',
    dimensionsMap: { Service: 'Fargate', Type: 'Resource', Resource: 'vCPU', Class: usageClass },
    statistic: 'Maximum',
    period,
    label: `vCPUs ${name}`,
  });
  return new MathExpression({
    expression: `100 * ${id} / SERVICE_QUOTA(${id})`,
    usingMetrics: { [id]: used },
    period,
    label: `% of the quota, ${name}`,
  });
}
