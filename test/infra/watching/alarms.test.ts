import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  METRICS_NAMESPACE,
  STUCK_METRIC,
  TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';
import { poolName } from '../../support/parts.ts';
import { table } from '../../support/table.ts';
import { deployedPool, operate } from '../support/operated.ts';
import { cpu, deployment, synthesize } from '../support/synthesized.ts';
import type { Resource } from '../support/template-parts.ts';

const onDemand = deployedPool({ name: poolName('cpu') });
const spot = deployedPool({ name: poolName('cheap'), spot: true });
const both = operate({ pools: [onDemand, spot] });

/** As CloudFormation has them. */
type AlarmProperties = Resource['Properties'];

function alarmsOf(template: typeof both): readonly AlarmProperties[] {
  return Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
}

/** A part of an alarm on an expression. */
type Part = { readonly Expression?: string; readonly MetricStat?: { readonly Metric: AlarmProperties } };

/** `Minimum TickAge a 60 s GreaterThanThreshold 300, 3 of 3, else ignore`. */
function summaryOf(alarm: AlarmProperties): string {
  const stat = alarm.Metrics?.find(({ MetricStat }: Part) => MetricStat !== undefined)?.MetricStat;
  const metric = stat?.Metric.MetricName ?? alarm.MetricName;
  const expression = alarm.Metrics?.find(({ Expression }: Part) => Expression !== undefined)?.Expression;
  const what = `${stat?.Stat ?? alarm.Statistic} ${metric} a ${stat?.Period ?? alarm.Period} s`;
  const limit = `${alarm.ComparisonOperator} ${alarm.Threshold}`;
  const periods = `${alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods} of ${alarm.EvaluationPeriods}`;
  return [what, expression, limit, periods, `else ${alarm.TreatMissingData}`].filter(Boolean).join(', ');
}

const EXPECTED = table<{ name: string; summary: string; because: string }>`
  name           | summary                                                                                 | because
  no-tick        | SampleCount TickAge a 60 s, FILL(looks, 0), LessThanOrEqualToThreshold 0, 5 of 5, else breaching | missing data means that no look ended
  failing-ticks  | Sum Errors a 60 s, GreaterThanOrEqualToThreshold 1, 3 of 5, else notBreaching           | the next look repairs one failed look
  sight-lost     | Minimum TickAge a 60 s, GreaterThanThreshold 300, 3 of 3, else ignore                   | an instance of the function that was idle starts with an old age
  job-waits      | Minimum OldestPendingAge a 60 s, GreaterThanThreshold 300, 2 of 2, else ignore          | a job that starts in its sixth minute must not page anyone
  unserved-jobs  | Minimum UnservedJobs a 60 s, GreaterThanThreshold 0, 3 of 3, else ignore                | a job that is canceled at once must not page anyone
  pool-at-max    | Minimum PoolsAtMax a 60 s, GreaterThanThreshold 0, 10 of 10, else ignore                | a pool may be at max for a while
  starts-failing | Minimum FailedStarts a 60 s, GreaterThanThreshold 0, 12 of 20, else ignore              | a failed start is reported for 10 minutes, and tasks without a lease fail every 11
  drain-stuck    | Minimum StuckTasks a 900 s, GreaterThanThreshold 0, 1 of 1, else notBreaching           | the metric exists only while there are such tasks
  builds-died    | Maximum DeadBuilds a 300 s, GreaterThanThreshold 0, 1 of 1, else notBreaching           | one build is enough, and the metric exists only for about an hour after a death
  count-contested | Minimum ContestedPools a 900 s, GreaterThanThreshold 0, 1 of 1, else notBreaching       | the metric exists only while there are such pools
  token-expires  | Minimum TokenDaysLeft a 900 s, LessThanOrEqualToThreshold 14, 1 of 1, else notBreaching | the metric exists only if the token expires soon
  license-ends   | Minimum LicenseProblem a 900 s, GreaterThanThreshold 0, 1 of 1, else notBreaching       | the metric exists only while the license is missing or in its grace period
  vcpu-quota-on-demand | Maximum ResourceCount a 300 s, 100 * usedOnDemand / SERVICE_QUOTA(usedOnDemand), GreaterThanThreshold 80, 2 of 2, else notBreaching | no data means that nothing runs
  vcpu-quota-spot | Maximum ResourceCount a 300 s, 100 * usedSpot / SERVICE_QUOTA(usedSpot), GreaterThanThreshold 80, 2 of 2, else notBreaching | Spot has its own quota
`;

describe('the alarms', () => {
  const alarms = alarmsOf(both);
  const named = (name: string): AlarmProperties | undefined =>
    alarms.find(({ AlarmName }) => AlarmName === `Test-${name}`);

  it('are exactly the expected ones', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName)).toEqual(EXPECTED.map(({ name }) => `Test-${name}`));
  });

  it.each(EXPECTED)('$name goes off at $summary: $because', ({ name, summary }) => {
    const alarm = named(name);
    expect(alarm && summaryOf(alarm)).toBe(summary);
  });

  it.each(EXPECTED)(
    '$name describes the first step and names an existing section of the runbook',
    ({ name }) => {
      const description = named(name)?.AlarmDescription ?? '';
      expect(description).toContain('First: ');
      expect(description).toContain(`docs/operate.md, "${name}"`);
      expect(description.length).toBeLessThan(1024);
      expect(readFileSync('docs/operate.md', 'utf8').split('\n')).toContain(`### ${name}`);
    },
  );

  it('notify the topic when they go off and when they are over', () => {
    const [topic] = Object.keys(both.findResources('AWS::SNS::Topic'));
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: topic }]);
      expect(OKActions).toEqual([{ Ref: topic }]);
    }
  });

  it('use only metrics that the function publishes for this deployment', () => {
    const read = alarms.flatMap(({ Namespace, MetricName, Dimensions, Metrics = [] }) => [
      { Namespace, MetricName, Dimensions },
      ...Metrics.flatMap(({ MetricStat }: Part) => MetricStat?.Metric ?? []),
    ]);
    const own = read.filter(({ Namespace }) => Namespace === METRICS_NAMESPACE);
    expect(own).toHaveLength(11);
    for (const { MetricName, Dimensions } of own) {
      expect([
        ...ACTIVITY_METRICS,
        ...ALARM_METRICS,
        STUCK_METRIC,
        TOKEN_METRIC,
        LICENSE_METRIC,
        DEAD_METRIC,
        CONTESTED_METRIC,
      ]).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Test' }]);
    }
  });

  it('watch the quotas of the capacities that the pools use', () => {
    const classes = (template: typeof both): readonly unknown[] =>
      alarmsOf(template)
        .flatMap(({ Metrics = [] }) => Metrics)
        .flatMap(({ MetricStat }: Part) => MetricStat?.Metric.Dimensions ?? [])
        .filter(({ Name }) => Name === 'Class')
        .map(({ Value }) => Value);
    expect(classes(both)).toEqual(['Standard/OnDemand', 'Standard/Spot']);
    expect(classes(operate({ pools: [spot] }))).toEqual(['Standard/Spot']);
    expect(classes(operate({ pools: [{ ...spot, spotBase: 1 }] }))).toEqual([
      'Standard/OnDemand',
      'Standard/Spot',
    ]);
  });

  it('notify an existing topic and create none', () => {
    const topic = 'arn:aws:sns:eu-central-1:123456789012:pager';
    const given = operate({ alarms: { topic } });
    given.resourceCountIs('AWS::SNS::Topic', 0);
    given.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topic], OKActions: [topic] });
    given.hasResourceProperties('AWS::CloudWatch::Alarm', { ActionsEnabled: Match.absent() });
  });

  it('are not created, nor a topic, if they are disabled', () => {
    const without = synthesize(deployment([cpu], { alarms: { enabled: false } }));
    without.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    without.resourceCountIs('AWS::SNS::Topic', 0);
  });
});
