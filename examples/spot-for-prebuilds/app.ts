/**
 * Prebuilt workspaces build on Fargate Spot, which is up to 70 % cheaper. AWS may stop a Spot task with two
 * minutes' notice. coderd then builds the prebuilt workspace again. People's builds run on demand.
 */
import { App, Duration, Stack } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { ProvisionerAutoscaler } from 'coder-provisioner-autoscaler';

const app = new App();
const stack = new Stack(app, 'CoderProvisioners');
const alarmTopic = new Topic(stack, 'Alarms', { enforceSSL: true });
const autoscaler = new ProvisionerAutoscaler(stack, 'Autoscaler', {
  alarmTopic,
  coder: {
    url: 'https://coder.example.com',
    token: { secret: 'coder/autoscaler-token' },
  },
  pools: [
    { name: 'people', organization: 'default', key: { secret: 'coder/keys/people' }, max: 20 },
    {
      name: 'prebuilds',
      organization: 'default',
      tags: { is_prebuild: 'true' },
      key: { secret: 'coder/keys/prebuilds' },
      // prebuilds launch up to 4/5 of it
      max: 13,
      spot: true,
    },
  ],
  // For the alarm below: three more metrics for each pool, at $0.30 a month each.
  aws: { metrics: { perPool: true } },
});

// Prebuilds may wait, but not for an hour: then Spot has no capacity in this region.
autoscaler
  .pool('prebuilds')
  .metricPendingJobs({ period: Duration.minutes(5), statistic: 'Minimum' })
  .createAlarm(stack, 'PrebuildsWait', {
    alarmDescription: 'Prebuilds have been pending for an hour. Check whether Spot tasks start.',
    threshold: 1,
    evaluationPeriods: 12,
  })
  .addAlarmAction(new SnsAction(alarmTopic));
