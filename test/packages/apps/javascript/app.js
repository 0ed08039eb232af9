import { App, Stack } from 'aws-cdk-lib';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';

const app = new App({ outdir: 'cdk.out' });
const stack = new Stack(app, 'StockStack');
new ProvisionerAutoscaler(stack, 'Autoscaler', { configFile: 'autoscaler.yaml' });
app.synth();
