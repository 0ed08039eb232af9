/** The public API for your own CDK app. */
export { ConfigError } from '../lambda/config/problems/problems.ts';
export { PlainTemplateError } from './constructs/plain/plain-template-error.ts';
export {
  type ExistingResources,
  ProvisionerAutoscaler,
  type ProvisionerAutoscalerProps,
} from './constructs/provisioner-autoscaler.ts';
export type { Settings } from './constructs/settings.ts';
export { StackError } from './constructs/stack-error.ts';
export { type TemplateOptions, type WrittenTemplate, writeTemplate } from './plain/write-template.ts';
