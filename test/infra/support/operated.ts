/** A stack with the function, and its alarms, for an existing cluster. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster } from 'aws-cdk-lib/aws-ecs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AutoscalerFunction } from '../../../infra/constructs/function/autoscaler-function.ts';
import { Alarms } from '../../../infra/constructs/watching/alarms.ts';
import type { AwsSettings, DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { aPool, poolName } from '../../support/parts.ts';
import { newApp, templateOf } from './synthesized.ts';

export function deployedPool(pool: Partial<DeployedPool> = {}): DeployedPool {
  return {
    ...aPool(),
    ephemeralStorage: 20,
    taskRole: { kind: 'own', policies: [] },
    ...pool,
  };
}

export type Operated = {
  readonly settings?: Partial<AwsSettings['function']>;
  readonly alarms?: Partial<AwsSettings['alarms']>;
  readonly pools?: readonly DeployedPool[];
};

const functionDir = ownFolder();
writeFileSync(join(functionDir, 'index.mjs'), 'export const handler = async () => {};\n');

export function operate(operated: Operated = {}): Template {
  return templateOf(operatedStack(operated));
}

function operatedStack({ settings, alarms, pools }: Operated): Stack {
  const stack = new Stack(newApp(), 'Test');
  const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['eu-central-1a'],
  });
  const subnet = Subnet.fromSubnetAttributes(stack, 'Subnet', {
    subnetId: 'subnet-0123456789abcdef0',
    routeTableId: 'rtb-0123456789abcdef0',
  });
  const sized = pools ?? [deployedPool({ name: poolName('cpu') })];
  const autoscaler = new AutoscalerFunction(stack, 'Autoscaler', {
    cluster: Cluster.fromClusterAttributes(stack, 'Cluster', { clusterName: 'builds', vpc }),
    vpc,
    vpcSubnets: { subnets: [subnet] },
    token: { secret: 'coder/autoscaler-token' },
    functionDir,
    taskFamilies: 'TestAutoscalerPool*',
    settings: { memory: 512, inVpc: true, ...settings },
    logGroup: new LogGroup(stack, 'Logs'),
    kmsKey: undefined,
  });
  const operated = { autoscaler, pools: sized };
  new Alarms(stack, 'Alarms', {
    ...operated,
    settings: { enabled: true, emails: [], ...alarms },
  });
  return stack;
}
