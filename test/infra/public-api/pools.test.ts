/** The pools of an autoscaler, and their security groups, as users of the construct see them. */
import { Stack } from 'aws-cdk-lib';
import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions';
import { Peer, Port, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ProvisionerAutoscaler, StackError } from 'coder-provisioner-autoscaler';
import { describe, expect, it } from 'vitest';
import { actionsIn, deploy, type Statement } from '../support/public-api.ts';
import { cpu, deployment, EVERYTHING, EXISTING, gpu, newApp, templateOf } from '../support/synthesized.ts';
import { type Resource, resourcesOf, roleOf, statementsOf, taskOf } from '../support/template-parts.ts';

describe('a pool', () => {
  const { stack, autoscaler } = deploy(deployment([cpu, gpu]));

  it('is found by its name', () => {
    expect(autoscaler.pool('gpu')).toBe(autoscaler.pools.gpu);
    expect(Object.keys(autoscaler.pools)).toEqual(['cpu', 'gpu']);
    expect(autoscaler.pool('gpu').poolName).toBe('gpu');
    expect(autoscaler.pool('gpu').service).toBe(autoscaler.services.gpu);
  });

  it.each(['gup', '', '__proto__', 'constructor'])('is not found by the wrong name "%s"', (name) => {
    expect(() => autoscaler.pool(name)).toThrow(
      new StackError(`cannot find pool "${name}": the settings have only cpu, gpu; name one of them`),
    );
  });

  it('gets a grant in its task role, and no other pool gets it', () => {
    new Bucket(stack, 'State').grantRead(autoscaler.pool('gpu'));
    const template = templateOf(stack);
    const actionsOf = (pool: string): string[] =>
      actionsIn(statementsOf(template, roleOf(taskOf(template, pool).TaskRoleArn)) as Statement[]);
    expect(actionsOf('gpu')).toContain('s3:GetObject*');
    expect(actionsOf('cpu').join()).not.toContain('s3:');
  });

  it('gets no grant if its role exists already, and the error names the role', () => {
    const { stack, autoscaler } = deploy(EVERYTHING);
    expect(() => new Bucket(stack, 'State').grantRead(autoscaler.pool('gpu'))).toThrow(
      /^cannot grant to pool gpu: its taskRole\.arn is the existing role arn:aws:iam::123456789012:role\/terraform\/gpu, .*; grant to that role instead/,
    );
    expect(autoscaler.pool('gpu').taskRole.roleArn).toContain('role/terraform/gpu');
  });

  it('keeps what was granted to a bound role, as it keeps the role', () => {
    const { stack, autoscaler } = deploy(deployment([cpu], { bindTaskRoles: true }));
    new Bucket(stack, 'State').grantRead(autoscaler.pool('cpu'));
    const template = templateOf(stack);
    const bound = roleOf(taskOf(template, 'cpu').TaskRoleArn);
    const granted = Object.values(resourcesOf(template)).filter(
      ({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.Roles[0].Ref === bound,
    );
    expect(granted).toHaveLength(1);
    expect(granted[0]).toMatchObject({ DeletionPolicy: 'Retain' });
  });
});

describe('connections', () => {
  const rulesIn = (template: Template): Resource[] =>
    Object.values(template.findResources('AWS::EC2::SecurityGroupIngress'));

  it('of the autoscaler and of each pool have the security group of the tasks', () => {
    const { autoscaler } = deploy(deployment([cpu, gpu]));
    const groups = autoscaler.connections.securityGroups;
    expect(groups).toHaveLength(1);
    for (const pool of Object.values(autoscaler.pools))
      expect(pool.connections.securityGroups).toEqual(groups);
  });

  it('let the autoscaler reach a load balancer of the stack that has the VPC', () => {
    const app = newApp();
    const platform = new Stack(app, 'Platform');
    const vpc = new Vpc(platform, 'Vpc', { restrictDefaultSecurityGroup: false });
    const loadBalancer = new SecurityGroup(platform, 'LoadBalancer', { vpc });
    const builds = new Stack(app, 'Builds');
    const autoscaler = new ProvisionerAutoscaler(builds, 'Autoscaler', { ...deployment([cpu]), vpc });
    autoscaler.connections.allowTo(loadBalancer, Port.HTTPS);
    const [rule, ...more] = rulesIn(templateOf(builds));
    expect(rule?.Properties).toMatchObject({ FromPort: 443, ToPort: 443 });
    expect(more).toEqual([]);
    expect(rulesIn(templateOf(platform))).toEqual([]);
    // the group of the tasks allows all outbound traffic, so CDK would warn
    Annotations.fromStack(builds).hasNoWarning('*', Match.anyValue());
  });

  it('let a monitor reach the metrics of a pool', () => {
    const { stack, autoscaler } = deploy(
      deployment([{ ...cpu, environment: { CODER_PROMETHEUS_ADDRESS: '0.0.0.0:2112' } }]),
    );
    autoscaler.pool('cpu').connections.allowFrom(Peer.ipv4('10.0.0.0/16'), Port.tcp(2112));
    templateOf(stack).hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: [Match.objectLike({ CidrIp: '10.0.0.0/16', FromPort: 2112 })],
    });
  });

  it('do not change groups that the settings name by id', () => {
    const { stack, autoscaler } = deploy(EXISTING);
    autoscaler.connections.allowFromAnyIpv4(Port.HTTPS);
    expect(rulesIn(templateOf(stack))).toEqual([]);
  });
});
