/**
 * What a pool's service and roles need in CloudFormation and CDK's constructs have no property for.
 */
import { CfnResource, RemovalPolicy } from 'aws-cdk-lib';
import { CfnService, type FargateService } from 'aws-cdk-lib/aws-ecs';
import type { IConstruct } from 'constructs';

/**
 * Makes the service independent of the feature flags of the CDK app. Three of them change it, and
 * CloudFormation replaces a service that gains or loses a deployment controller: its tasks stop.
 */
export function ignoreFeatureFlags(service: CfnService): void {
  service.addPropertyDeletionOverride('DeploymentController');
  service.addPropertyDeletionOverride('DeploymentConfiguration.Alarms');
  service.addPropertyOverride('LoadBalancers', []);
}

/**
 * Ends a deployment with the first healthy task, so old builds do not delay it. Until then the
 * circuit breaker can roll back (docs/adr/0026).
 */
export function succeedEarly(service: CfnService): void {
  // CDK's construct has no property for this yet.
  service.addPropertyOverride('DeploymentConfiguration.EarlySuccessCriteria', {
    Enable: true,
    HealthyPercent: 1,
    SourceServiceRevisionCleanup: 'DEFERRED',
  });
}

/** Applies a change to what the construct passes to CloudFormation. */
export function override(service: FargateService, change: (service: CfnService) => void): void {
  for (const child of service.node.children) if (child instanceof CfnService) change(child);
}

const PERMISSIONS = new Set(['AWS::IAM::Role', 'AWS::IAM::Policy']);

/**
 * Retains roles and policies. CloudFormation deletes what the template no longer has as soon as the
 * deployment ends, but guards of old tasks still have to renew their leases.
 */
export function retainPermissions(task: IConstruct): void {
  for (const child of task.node.findAll())
    if (CfnResource.isCfnResource(child) && PERMISSIONS.has(child.cfnResourceType))
      child.applyRemovalPolicy(RemovalPolicy.RETAIN);
}
