/** Each of these lines is a type error. `tsc` fails if one of them is not. */
import { App, Stack } from 'aws-cdk-lib';
import { ProvisionerAutoscaler, type ProvisionerAutoscalerProps } from 'coder-provisioner-autoscaler';

const stack = new Stack(new App(), 'WrongProps');
const coder = { url: 'https://coder.example.com', token: { secret: 'coder/token' } };
const pool = { name: 'default', organization: 'default', key: { secret: 'coder/keys/default' } };

export const right: ProvisionerAutoscalerProps = { coder, pools: [pool] };

export const wrong = (): readonly unknown[] => [
  // @ts-expect-error: neither `configFile` nor settings
  new ProvisionerAutoscaler(stack, 'Empty', {}),
  // @ts-expect-error: a prop that does not exist
  new ProvisionerAutoscaler(stack, 'Unknown', { configFile: 'autoscaler.yaml', clusterName: 'builds' }),
  // @ts-expect-error: a file is named by a string
  new ProvisionerAutoscaler(stack, 'Number', { configFile: 1 }),
  // @ts-expect-error: the cluster is a construct, not its name
  new ProvisionerAutoscaler(stack, 'Cluster', { configFile: 'autoscaler.yaml', cluster: 'builds' }),
  // @ts-expect-error: `max` is a number
  new ProvisionerAutoscaler(stack, 'Max', { coder, pools: [{ ...pool, max: 'many' }] }),
  // @ts-expect-error: a pool needs a key
  new ProvisionerAutoscaler(stack, 'Key', { coder, pools: [{ name: 'default', organization: 'default' }] }),
  // @ts-expect-error: a key is "managed" or in a secret
  new ProvisionerAutoscaler(stack, 'Managed', { coder, pools: [{ ...pool, key: 'mine' }] }),
];
