/** The public API for your own CDK app. docs/construct.md describes it. */
export { ConfigError } from '../lambda/config/problems/problems.ts';
export type { ExistingResources, ProvisionerAutoscalerProps } from './constructs/existing-resources.ts';
export type { ProvisionerPool } from './constructs/pool/provisioner-pool.ts';
export { ProvisionerAutoscaler } from './constructs/provisioner-autoscaler.ts';
export type { Settings, SettingsSource } from './constructs/settings.ts';
export { StackError } from './constructs/shared/stack-error.ts';
export { type AutoscalerMetric, MeteredConstruct } from './constructs/watching/metered-construct.ts';
