import { Annotations } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  type InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
  Port,
  SecurityGroup,
  Subnet,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct, DependencyGroup, type IDependable } from 'constructs';
import type { AwsSettings } from '../../lambda/config/rules/deployment.ts';
import { isPlain } from './plain/plain-stack.ts';
import { acknowledge } from './shared/nag.ts';

export type NetworkProps = {
  readonly settings: AwsSettings['network'];
  /** @default the one that the settings name, else a new one */
  readonly vpc?: IVpc | undefined;
  /** Private subnets with egress. @default those that the settings name, else those of the VPC */
  readonly subnets?: SubnetSelection | undefined;
  /** @default those that the settings name, else a new one without ingress rules */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
};

/**
 * The network of the tasks and the function: private subnets with egress, and security groups
 * without ingress.
 */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroups: ISecurityGroup[];
  /** The subnets have egress once these resources exist. */
  readonly ready: IDependable;

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const { settings } = props;
    const existing = props.vpc ?? importVpc(this, settings);
    this.vpc = existing ?? makeVpc(this, settings);
    const { subnets, internetConnectivityEstablished } = this.vpc.selectSubnets(
      props.subnets ?? subnetsOf(this, settings),
    );
    // Pass the subnets themselves. Other constructs would select again, and ECS would do so in the
    // VPC of the cluster, which may be another.
    this.subnets = { subnets };
    this.securityGroups = [...(props.securityGroups ?? securityGroupsOf(this, this.vpc, settings))];
    const endpoints =
      existing === undefined && settings.endpoints ? addEndpoints(this, this.vpc, this.securityGroups) : [];
    this.ready = new DependencyGroup(internetConnectivityEstablished, ...endpoints);
  }
}

/** Imports the VPC without a lookup, so that `cdk synth` does not call AWS. */
function importVpc(scope: Construct, { vpc }: AwsSettings['network']): IVpc | undefined {
  if (vpc === undefined) return undefined;
  // CDK requires a zone, but nothing reads it, because the subnets are passed one by one.
  return Vpc.fromVpcAttributes(scope, 'Vpc', { vpcId: vpc, availabilityZones: ['not-looked-up'] });
}

function makeVpc(scope: Construct, { natGateways }: AwsSettings['network']): Vpc {
  const vpc = new Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways,
    // The endpoint is free. Image layers in S3, such as all of ECR's, bypass the NAT gateway and
    // its price.
    gatewayEndpoints: { S3: { service: GatewayVpcEndpointAwsService.S3 } },
    // Nothing uses the default group. Restricting it would need a function that may change groups.
    restrictDefaultSecurityGroup: false,
  });
  acknowledge(vpc, {
    id: 'AwsSolutions-VPC7',
    reason:
      'AWS bills flow logs by the gigabyte, and their destination depends on the account. Add them to this VPC, or use an existing VPC that has them',
  });
  return vpc;
}

function subnetsOf(scope: Construct, settings: AwsSettings['network']): SubnetSelection {
  const subnets = settings.subnets.map((subnetId, index): ISubnet => {
    const subnet = Subnet.fromSubnetId(scope, `Subnet${index + 1}`, subnetId);
    Annotations.of(subnet).acknowledgeWarning(
      '@aws-cdk/aws-ec2:noSubnetRouteTableId',
      'This stack does not change the routes',
    );
    return subnet;
  });
  return subnets.length > 0 ? { subnets } : { subnetType: SubnetType.PRIVATE_WITH_EGRESS };
}

function securityGroupsOf(
  scope: Construct,
  vpc: IVpc,
  { securityGroups }: AwsSettings['network'],
): ISecurityGroup[] {
  if (securityGroups.length > 0) {
    return securityGroups.map((groupId, index) =>
      SecurityGroup.fromSecurityGroupId(scope, `SecurityGroup${index + 1}`, groupId, { mutable: false }),
    );
  }
  const description = 'Provisioner daemons and their autoscaler: everything out, nothing in';
  const group = new SecurityGroup(scope, 'SecurityGroup', { vpc, description });
  Annotations.of(group).acknowledgeWarning(
    '@aws-cdk/aws-ec2:ipv4IgnoreEgressRule',
    'The group allows all outbound traffic, so allowTo() of a CDK app needs to change only the other group',
  );
  return [group];
}

/**
 * The AWS services that tasks and the function call. Task protection uses the ECS agent, outside
 * this network.
 */
const ENDPOINTS: Readonly<Record<string, InterfaceVpcEndpointAwsService>> = {
  EcrApi: InterfaceVpcEndpointAwsService.ECR,
  EcrDocker: InterfaceVpcEndpointAwsService.ECR_DOCKER,
  Ecs: InterfaceVpcEndpointAwsService.ECS,
  Logs: InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
  SecretsManager: InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
};

function endpointsOf(scope: Construct): typeof ENDPOINTS {
  return isPlain(scope) ? { ...ENDPOINTS, Ssm: InterfaceVpcEndpointAwsService.SSM } : ENDPOINTS;
}

function addEndpoints(
  scope: Construct,
  vpc: IVpc,
  clients: readonly ISecurityGroup[],
): InterfaceVpcEndpoint[] {
  const group = new SecurityGroup(scope, 'EndpointSecurityGroup', {
    vpc,
    description: 'Interface endpoints: from provisioner daemons and their autoscaler alone',
    allowAllOutbound: false,
  });
  for (const client of clients) group.addIngressRule(client, Port.HTTPS);
  return Object.entries(endpointsOf(scope)).map(([id, service]) =>
    vpc.addInterfaceEndpoint(id, { service, securityGroups: [group], open: false }),
  );
}
