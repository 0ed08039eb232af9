/**
 * CDK's feature flags that change a plain template, with the values of cdk.json. They are fixed
 * here, because a template must not depend on the folder in which the command runs. A test compares
 * them with cdk.json.
 */
export const FEATURE_FLAGS = {
  '@aws-cdk/aws-iam:minimizePolicies': true,
  '@aws-cdk/aws-ecs:disableExplicitDeploymentControllerForCircuitBreaker': true,
  '@aws-cdk/aws-ecs:removeDefaultDeploymentAlarm': true,
  '@aws-cdk/aws-ecs:removeEmptyLoadBalancers': true,
} as const;
