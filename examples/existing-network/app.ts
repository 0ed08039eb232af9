/**
 * The tasks run in a VPC and a cluster that exist already. They are imported by their ids, so `cdk synth`
 * calls no AWS API. `Vpc.fromLookup` works too, but it needs credentials for the first synthesis.
 */
import { App, Stack } from 'aws-cdk-lib';
import { Port, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Cluster } from 'aws-cdk-lib/aws-ecs';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';

const app = new App();
const stack = new Stack(app, 'CoderProvisioners');

const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['eu-central-1a', 'eu-central-1b'],
  privateSubnetIds: ['subnet-0123456789abcdef0', 'subnet-0fedcba9876543210'],
  privateSubnetRouteTableIds: ['rtb-0123456789abcdef0', 'rtb-0fedcba9876543210'],
});
const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', {
  vpc,
  // It needs the capacity provider FARGATE.
  cluster: Cluster.fromClusterAttributes(stack, 'Cluster', { clusterName: 'platform', vpc }),
  coder: {
    url: 'https://coder.example.com',
    token: { secret: 'coder/autoscaler-token' },
  },
  pools: [{ name: 'default', organization: 'default', key: { secret: 'coder/keys/default' }, max: 10 }],
});

// The daemons and the function reach coderd through its load balancer.
const loadBalancer = SecurityGroup.fromSecurityGroupId(stack, 'LoadBalancer', 'sg-0123456789abcdef0');
autoscaler.connections.allowTo(loadBalancer, Port.HTTPS, 'Coder provisioners');
