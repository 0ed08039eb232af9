/** The public API for your own CDK app. docs/construct.md describes it. */
export { ConfigError } from '../lambda/config/problems/problems.ts';
export type { AutoscalerMetric } from '../lambda/telemetry/statistics.ts';
export type { ExistingResources, ProvisionerAutoscalerProps } from './constructs/existing-resources.ts';
export type { ProvisionerPool } from './constructs/pool/provisioner-pool.ts';
export { ProvisionerAutoscaler } from './constructs/provisioner-autoscaler.ts';
export type { Settings, SettingsSource } from './constructs/settings.ts';
export { PlainTemplateError, StackError } from './constructs/shared/errors.ts';
export { type TemplateOptions, type WrittenTemplate, writeTemplate } from './plain/write-template.ts';
