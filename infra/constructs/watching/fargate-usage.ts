/** Fargate's vCPUs in use in this account and region, of all that runs there, against their quota. */
import type { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';

/** On demand and Spot have a quota each; codes: docs/aws.md §2. */
export type FargateCapacity = {
  readonly name: 'on-demand' | 'spot';
  readonly quotaCode: 'L-3032A538' | 'L-36FBB829';
  /** Value of the dimension `Class` (ECS developer guide, "AWS Fargate usage metrics"). */
  readonly usageClass: 'Standard/OnDemand' | 'Standard/Spot';
};

const ON_DEMAND: FargateCapacity = {
  name: 'on-demand',
  quotaCode: 'L-3032A538',
  usageClass: 'Standard/OnDemand',
};
const SPOT: FargateCapacity = { name: 'spot', quotaCode: 'L-36FBB829', usageClass: 'Standard/Spot' };

/** What these pools run on. */
export function capacitiesOf(pools: readonly DeployedPool[]): readonly FargateCapacity[] {
  const onDemand = pools.some(({ spot, spotBase }) => !spot || spotBase > 0);
  const spot = pools.some((pool) => pool.spot);
  return [...(onDemand ? [ON_DEMAND] : []), ...(spot ? [SPOT] : [])];
}

/** Percent of the quota in use. */
export function usedQuota(capacity: FargateCapacity, period: Duration): MathExpression {
  // both may be in one graph, where an id stands for one metric
  const used = capacity === SPOT ? 'usedSpot' : 'usedOnDemand';
  return new MathExpression({
    expression: `100 * ${used} / SERVICE_QUOTA(${used})`,
    usingMetrics: { [used]: usedVcpus(capacity, period) },
    period,
    label: `% of the quota, ${capacity.name}`,
  });
}

function usedVcpus({ name, usageClass }: FargateCapacity, period: Duration): Metric {
  return new Metric({
    namespace: 'AWS/Usage',
    metricName: 'ResourceCount',
    dimensionsMap: { Service: 'Fargate', Type: 'Resource', Resource: 'vCPU', Class: usageClass },
    statistic: 'Maximum',
    period,
    label: `vCPUs ${name}`,
  });
}
