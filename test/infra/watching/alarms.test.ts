import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  ALARM_OF,
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  METRICS_NAMESPACE,
  STUCK_METRIC,
  TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';
import { poolName } from '../../support/parts.ts';
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

describe('the alarms', () => {
  const alarms = alarmsOf(both);

  it.each(alarms)(
    '$AlarmName describes the first step and names an existing section of the runbook',
    ({ AlarmName, AlarmDescription: description }) => {
      const name = AlarmName.replace('Test-', '');
      expect(description).toContain('First: ');
      expect(description).toContain(`docs/operate.md, "${name}"`);
      expect(description.length).toBeLessThan(1024);
      expect(readFileSync('docs/operate.md', 'utf8').split('\n')).toContain(`### ${name}`);
    },
  );

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

  it('have the names that the log gives to the limits of their metrics', () => {
    const own = alarms.flatMap(({ AlarmName, Namespace, MetricName, Metrics = [] }) =>
      [{ Namespace, MetricName }, ...Metrics.flatMap(({ MetricStat }: Part) => MetricStat?.Metric ?? [])]
        .filter((metric) => metric.Namespace === METRICS_NAMESPACE)
        .map((metric) => [metric.MetricName, AlarmName] as const),
    );
    // it counts looks, whatever their values
    const onValues = own.filter(([, name]) => name !== 'Test-no-tick');
    expect(Object.fromEntries(onValues)).toEqual(
      Object.fromEntries(Object.entries(ALARM_OF).map(([metric, name]) => [metric, `Test-${name}`])),
    );
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
  });

  it('are not created, nor a topic, if they are disabled', () => {
    const without = synthesize(deployment([cpu], { alarms: { enabled: false } }));
    without.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    without.resourceCountIs('AWS::SNS::Topic', 0);
  });
});
