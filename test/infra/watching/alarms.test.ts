import { readFileSync } from 'node:fs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  METRICS,
  METRICS_NAMESPACE,
  STUCK_METRIC,
  TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';
import { poolName } from '../../support/parts.ts';
import { deployedPool, operate } from '../support/operated.ts';
import { cpu, deployment, synthesize } from '../support/synthesized.ts';

const onDemand = deployedPool({ name: poolName('cpu') });
const spot = deployedPool({ name: poolName('cheap'), spot: true });
const both = operate({ pools: [onDemand, spot] });

type Stat = {
  readonly Metric: {
    readonly Namespace: string;
    readonly MetricName: string;
    readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
  };
  readonly Period: number;
  readonly Stat: string;
};
type AlarmProperties = {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
  readonly TreatMissingData: string;
  readonly AlarmActions: readonly unknown[];
  readonly OKActions: readonly unknown[];
  readonly Namespace?: string;
  readonly MetricName?: string;
  readonly Dimensions?: Stat['Metric']['Dimensions'];
  readonly Statistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: Stat;
    readonly ReturnData?: boolean;
  }[];
};

function alarmsOf(template: typeof both): readonly AlarmProperties[] {
  const found = template.findResources('AWS::CloudWatch::Alarm') as Record<
    string,
    { Properties: AlarmProperties }
  >;
  return Object.values(found).map(({ Properties }) => Properties);
}

/** `Minimum TickAge a 60 s GreaterThanThreshold 300, 3 of 3, else ignore`. */
function pictureOf(alarm: AlarmProperties): string {
  const stat = alarm.Metrics?.find(({ MetricStat }) => MetricStat !== undefined)?.MetricStat;
  const metric = stat?.Metric.MetricName ?? alarm.MetricName;
  const expression = alarm.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression;
  const what = `${stat?.Stat ?? alarm.Statistic} ${metric} a ${stat?.Period ?? alarm.Period} s`;
  const limit = `${alarm.ComparisonOperator} ${alarm.Threshold}`;
  const periods = `${alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods} of ${alarm.EvaluationPeriods}`;
  return [what, expression, limit, periods, `else ${alarm.TreatMissingData}`].filter(Boolean).join(', ');
}

const EXPECTED = [
  {
    name: 'no-tick',
    picture:
      'SampleCount TickAge a 60 s, FILL(looks, 0), LessThanOrEqualToThreshold 0, 5 of 5, else breaching',
    because: 'no look is the one thing that missing data tells',
  },
  {
    name: 'failing-ticks',
    picture: 'Sum Errors a 60 s, GreaterThanOrEqualToThreshold 1, 3 of 5, else notBreaching',
    because: 'one failed look is repaired by the next',
  },
  {
    name: 'sight-lost',
    picture: 'Minimum TickAge a 60 s, GreaterThanThreshold 300, 3 of 3, else ignore',
    because: 'an instance of the function that was idle starts with an old age',
  },
  {
    name: 'job-waits',
    picture: 'Minimum OldestPendingAge a 60 s, GreaterThanThreshold 300, 2 of 2, else ignore',
    because: 'a job that is taken in its sixth minute wakes nobody',
  },
  {
    name: 'unserved-jobs',
    picture: 'Minimum UnservedJobs a 60 s, GreaterThanThreshold 0, 3 of 3, else ignore',
    because: 'a job that was cancelled at once wakes nobody',
  },
  {
    name: 'pool-at-max',
    picture: 'Minimum PoolsAtMax a 60 s, GreaterThanThreshold 0, 10 of 10, else ignore',
    because: 'to be at the maximum for a while is what a maximum is for',
  },
  {
    name: 'starts-failing',
    picture: 'Minimum FailedStarts a 60 s, GreaterThanThreshold 0, 12 of 20, else ignore',
    because: 'one failed start is told for 10 minutes, and tasks that get no lease fail every 11',
  },
  {
    name: 'drain-stuck',
    picture: 'Minimum StuckTasks a 900 s, GreaterThanThreshold 0, 1 of 1, else notBreaching',
    because: 'the metric exists only while there are such tasks',
  },
  {
    name: 'token-expires',
    picture: 'Minimum TokenDaysLeft a 900 s, LessThanOrEqualToThreshold 14, 1 of 1, else notBreaching',
    because: 'the metric exists only while the end is near',
  },
  {
    name: 'vcpu-quota-on-demand',
    picture:
      'Maximum ResourceCount a 300 s, 100 * usedOnDemand / SERVICE_QUOTA(usedOnDemand), GreaterThanThreshold 80, 2 of 2, else notBreaching',
    because: 'no data means that nothing runs',
  },
  {
    name: 'vcpu-quota-spot',
    picture:
      'Maximum ResourceCount a 300 s, 100 * usedSpot / SERVICE_QUOTA(usedSpot), GreaterThanThreshold 80, 2 of 2, else notBreaching',
    because: 'Spot has a quota of its own',
  },
];

describe('the alarms', () => {
  const alarms = alarmsOf(both);
  const named = (name: string): AlarmProperties | undefined =>
    alarms.find(({ AlarmName }) => AlarmName === `Test-${name}`);

  it('are these', () => {
    expect(alarms.map(({ AlarmName }) => AlarmName)).toEqual(EXPECTED.map(({ name }) => `Test-${name}`));
  });

  it.each(EXPECTED)('$name goes off at $picture: $because', ({ name, picture }) => {
    const alarm = named(name);
    expect(alarm && pictureOf(alarm)).toBe(picture);
  });

  it.each(EXPECTED)(
    '$name says what to do first, and names its section of the runbook, which exists',
    ({ name }) => {
      const description = named(name)?.AlarmDescription ?? '';
      expect(description).toContain('First: ');
      expect(description).toContain(`docs/runbook.md, "${name}"`);
      expect(description.length).toBeLessThan(1024);
      expect(readFileSync('docs/runbook.md', 'utf8').split('\n')).toContain(`## ${name}`);
    },
  );

  it('tell the topic of going off and of being over', () => {
    const [topic] = Object.keys(both.findResources('AWS::SNS::Topic'));
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: topic }]);
      expect(OKActions).toEqual([{ Ref: topic }]);
    }
  });

  it('read metrics of this deployment that the function emits', () => {
    const read = alarms.flatMap(({ Namespace, MetricName, Dimensions, Metrics = [] }) => [
      { Namespace, MetricName, Dimensions },
      ...Metrics.flatMap(({ MetricStat }) => (MetricStat === undefined ? [] : [MetricStat.Metric])),
    ]);
    const own = read.filter(({ Namespace }) => Namespace === METRICS_NAMESPACE);
    expect(own).toHaveLength(8);
    for (const { MetricName, Dimensions } of own) {
      expect([...METRICS, STUCK_METRIC, TOKEN_METRIC]).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'service', Value: 'Test' }]);
    }
  });

  it('watch the quota of what the pools run on', () => {
    const classes = (template: typeof both): readonly unknown[] =>
      alarmsOf(template)
        .flatMap(({ Metrics = [] }) => Metrics)
        .flatMap(({ MetricStat }) => MetricStat?.Metric.Dimensions ?? [])
        .filter(({ Name }) => Name === 'Class')
        .map(({ Value }) => Value);
    expect(classes(both)).toEqual(['Standard/OnDemand', 'Standard/Spot']);
    expect(classes(operate({ pools: [spot] }))).toEqual(['Standard/Spot']);
    expect(classes(operate({ pools: [{ ...spot, spotBase: 1 }] }))).toEqual([
      'Standard/OnDemand',
      'Standard/Spot',
    ]);
  });

  it('tell a topic that is there already, and make none', () => {
    const topic = 'arn:aws:sns:eu-central-1:123456789012:pager';
    const given = operate({ alarms: { topic } });
    given.resourceCountIs('AWS::SNS::Topic', 0);
    given.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topic], OKActions: [topic] });
    given.hasResourceProperties('AWS::CloudWatch::Alarm', { ActionsEnabled: Match.absent() });
  });

  it('are not there, nor a topic, where they are switched off', () => {
    const without = synthesize(deployment([cpu], { alarms: { enabled: false } }));
    without.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    without.resourceCountIs('AWS::SNS::Topic', 0);
    without.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
  });
});
