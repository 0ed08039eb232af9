/** The stack creates a VPC, a cluster and a topic for the alarms. All settings are in autoscaler.yaml. */
import { App, CfnOutput, Stack } from 'aws-cdk-lib';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';

const app = new App();
const stack = new Stack(app, 'CoderProvisioners');
const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', { configFile: 'autoscaler.yaml' });

// the `autoscaler` command reads it
new CfnOutput(stack, 'ClusterName', { value: autoscaler.cluster.clusterName });
