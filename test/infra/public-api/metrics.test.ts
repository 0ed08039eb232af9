/** The metrics and alarms of an autoscaler, as users of the construct see them. */
import { readFileSync } from 'node:fs';
import { Alarm, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { describe, expect, it } from 'vitest';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  METRICS_NAMESPACE,
  POOL_METRICS,
} from '../../../lambda/telemetry/metric-names.ts';
import { deploy } from '../support/public-api.ts';
import { cpu, deployment, templateOf } from '../support/synthesized.ts';

const { stack, autoscaler } = deploy(deployment([cpu]));

describe('the metrics of the autoscaler', () => {
  it.each([
    ...ACTIVITY_METRICS,
    ...ALARM_METRICS,
    'TokenDaysLeft',
    'StuckTasks',
    'DeadBuilds',
    'LostJobs',
    'ContestedPools',
  ] as const)('have %s, with the dimension of this deployment', (name) => {
    const metric: Metric = autoscaler.metric(name);
    expect(stack.resolve(metric.dimensions)).toEqual({ service: 'Test' });
    expect(metric).toMatchObject({ namespace: METRICS_NAMESPACE, metricName: name, label: undefined });
    expect(metric.period.toSeconds()).toBe(60);
  });

  it.each([
    { name: 'Launches', statistic: 'Sum' },
    { name: 'TickAge', statistic: 'Minimum' },
    { name: 'PendingJobs', statistic: 'Maximum' },
  ] as const)('have a default statistic that fits: $statistic of $name', ({ name, statistic }) => {
    expect(autoscaler.metric(name).statistic).toBe(statistic);
  });

  it('accept the options of every CDK metric', () => {
    const metric = autoscaler.metric('PendingJobs', {
      statistic: 'Average',
      label: 'jobs',
      color: '#ff0000',
    });
    expect(metric).toMatchObject({ statistic: 'Average', label: 'jobs', color: '#ff0000' });
  });

  it('are refused by a wrong name, and the error lists the names', () => {
    expect(() => autoscaler.metric('Pending' as never)).toThrow(
      /^cannot find the metric "Pending": there are only PendingJobs, /,
    );
  });

  it('make an alarm in the same stack', () => {
    new Alarm(stack, 'Queue', {
      metric: autoscaler.metric('OldestPendingAge'),
      threshold: 600,
      evaluationPeriods: 3,
    });
    templateOf(stack).hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'OldestPendingAge',
      Namespace: METRICS_NAMESPACE,
      Dimensions: [{ Name: 'service', Value: 'Test' }],
      Threshold: 600,
      Period: 60,
    });
  });
});

describe('the metrics of a pool', () => {
  const published = deploy(deployment([cpu], { metrics: { perPool: true } })).autoscaler;

  it.each(POOL_METRICS)('have %s, with the dimensions of the pool', (name) => {
    const metric = published.pool('cpu')[`metric${name}`]({ statistic: 'Average' });
    expect(metric.dimensions).toEqual({ service: 'Test', pool: 'cpu' });
    expect(metric).toMatchObject({ metricName: name, statistic: 'Average' });
  });

  it('are refused if the function does not publish them', () => {
    expect(() => autoscaler.pool('cpu').metricPendingJobs()).toThrow(
      /^cannot use the metric PendingJobs of pool cpu: .*set aws\.metrics\.perPool to true$/,
    );
  });
});

describe('the alarms', () => {
  it('are found by the names of their sections in the runbook', () => {
    const runbook = readFileSync('docs/operate.md', 'utf8');
    expect(Object.keys(autoscaler.alarms)).toContain('no-tick');
    for (const name of Object.keys(autoscaler.alarms)) expect(runbook).toContain(name);
  });

  it('are empty if the settings turn them off', () => {
    expect(deploy(deployment([cpu], { alarms: { enabled: false } })).autoscaler.alarms).toEqual({});
  });
});
