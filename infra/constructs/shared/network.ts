import { Annotations, Validations } from 'aws-cdk-lib';
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
import type { AwsSettings } from '../../../lambda/config/rules/deployment.ts';

export type NetworkProps = {
  readonly settings: AwsSettings['network'];
  /** @default the one that the settings name, else a new one */
  readonly vpc?: IVpc | undefined;
  /** Private, with a way out. @default those that the settings name, else the VPC's private subnets with egress */
  readonly subnets?: SubnetSelection | undefined;
  /** @default those that the settings name, else a new one without any ingress */
  readonly securityGroups?: readonly ISecurityGroup[] | undefined;
};

/** Where tasks and function run: private subnets with a way out, and security groups that let nothing in. */
export class Network extends Construct {
  readonly vpc: IVpc;
  readonly subnets: SubnetSelection;
  readonly securityGroups: ISecurityGroup[];
  /** From then on what runs in the subnets gets out. */
  readonly ready: IDependable;

  constructor(scope: Construct, id: string, props: NetworkProps) {
    super(scope, id);
    const { settings } = props;
    const existing = props.vpc ?? importVpc(this, settings);
    this.vpc = existing ?? makeVpc(this, settings);
    const { subnets, internetConnectivityEstablished } = this.vpc.selectSubnets(
      props.subnets ?? subnetsOf(this, settings),
    );
    // one by one: others would select them anew, and ECS in the VPC of the cluster, which may be another
    this.subnets = { subnets };
    this.securityGroups = [...(props.securityGroups ?? securityGroupsOf(this, this.vpc, settings))];
    const endpoints =
      existing === undefined && settings.endpoints ? addEndpoints(this, this.vpc, this.securityGroups) : [];
    this.ready = new DependencyGroup(internetConnectivityEstablished, ...endpoints);
  }
}

/** Without a look-up, so that `cdk synth` asks AWS nothing. */
function importVpc(scope: Construct, { vpc }: AwsSettings['network']): IVpc | undefined {
  if (vpc === undefined) return undefined;
  // CDK wants a zone, and nothing asks for it: the subnets are selected one by one
  return Vpc.fromVpcAttributes(scope, 'Vpc', { vpcId: vpc, availabilityZones: ['not-looked-up'] });
}

function makeVpc(scope: Construct, { natGateways }: AwsSettings['network']): Vpc {
  const vpc = new Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways,
    // image layers that lie in S3 (all of ECR's do) come without the NAT gateway's price a GB; the endpoint is free
    gatewayEndpoints: { S3: { service: GatewayVpcEndpointAwsService.S3 } },
    // nothing is in the default group; to empty it would take a function with rights to change groups
    restrictDefaultSecurityGroup: false,
  });
  Validations.of(vpc).acknowledge({
    id: 'AwsSolutions-VPC7',
    reason:
      'flow logs are billed by the gigabyte and where they go is a matter of the account: add them to this VPC, or bring one that has them',
  });
  return vpc;
}

function subnetsOf(scope: Construct, settings: AwsSettings['network']): SubnetSelection {
  const subnets = settings.subnets.map((subnetId, index): ISubnet => {
    const subnet = Subnet.fromSubnetId(scope, `Subnet${index + 1}`, subnetId);
    Annotations.of(subnet).acknowledgeWarning(
      '@aws-cdk/aws-ec2:noSubnetRouteTableId',
      'nothing here changes its routes',
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
  return [new SecurityGroup(scope, 'SecurityGroup', { vpc, description })];
}

/** What tasks and function call in AWS. Protection goes through the agent of the task, which is not in this network. */
const ENDPOINTS: Readonly<Record<string, InterfaceVpcEndpointAwsService>> = {
  EcrApi: InterfaceVpcEndpointAwsService.ECR,
  EcrDocker: InterfaceVpcEndpointAwsService.ECR_DOCKER,
  Ecs: InterfaceVpcEndpointAwsService.ECS,
  Logs: InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
  SecretsManager: InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
};

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
  return Object.entries(ENDPOINTS).map(([id, service]) =>
    vpc.addInterfaceEndpoint(id, { service, securityGroups: [group], open: false }),
  );
}
