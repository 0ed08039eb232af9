/** Two organizations of one coderd, each with a pool, a key and permissions of its own. */
import { App, Stack } from 'aws-cdk-lib';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';

const app = new App();
const stack = new Stack(app, 'CoderProvisioners');
const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', {
  coder: {
    url: 'https://coder.example.com',
    // Its user needs the role organization template admin in both organizations.
    token: { secret: 'coder/autoscaler-token' },
  },
  limits: { maxTasks: 30 },
  pools: [
    { name: 'engineering', organization: 'default', key: { secret: 'coder/keys/engineering' }, max: 20 },
    { name: 'data', organization: 'data', key: { secret: 'coder/keys/data' }, max: 10, memory: 4096 },
  ],
});

// Terraform in the builds of "data" may use this bucket. The builds of "engineering" may not.
new Bucket(stack, 'DataSets', { enforceSSL: true }).grantReadWrite(autoscaler.pool('data'));

// People who assume this role can run `autoscaler pause` and `autoscaler pin`, and nothing else.
const onCall = new Role(stack, 'OnCall', { assumedBy: new AccountRootPrincipal() });
autoscaler.grantOverride(onCall);
