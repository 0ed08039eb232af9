/** The public API for your own CDK app. */
export { ConfigError } from '../lambda/config/problems/problems.ts';
export {
  type ExistingResources,
  ProvisionerAutoscaler,
  type ProvisionerAutoscalerProps,
} from './constructs/provisioner-autoscaler.ts';
export type { Settings } from './constructs/settings.ts';
export { StackError } from './constructs/stack-error.ts';
