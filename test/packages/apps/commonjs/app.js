const { App, Stack } = require('aws-cdk-lib');
const { ProvisionerAutoscaler } = require('coder-provisioner-autoscaler');

const app = new App({ outdir: 'cdk.out' });
const stack = new Stack(app, 'StockStack');
new ProvisionerAutoscaler(stack, 'Autoscaler', { configFile: 'autoscaler.yaml' });
app.synth();
