import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  ACTIVITY_METRICS,
  ALARM_METRICS,
  METRICS_NAMESPACE,
  POOL_METRICS,
  WAIT_METRICS,
} from '../../../lambda/telemetry/metric-names.ts';
import { poolName } from '../../support/parts.ts';
import { deployedPool, operate } from '../support/operated.ts';

const pools = ['cpu', 'gpu'].map((name) => deployedPool({ name: poolName(name), cpu: 2048, memory: 4096 }));

type Widget = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly properties: {
    readonly markdown?: string;
    readonly query?: string;
    readonly metrics?: readonly (readonly unknown[])[];
    readonly alarms?: readonly string[];
  };
};

/** References become logical ids. */
function widgetsIn(template: Template): readonly Widget[] {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const parts: readonly unknown[] = dashboard?.Properties.DashboardBody['Fn::Join'][1];
  const text = parts.map((part) =>
    typeof part === 'string' ? part : Object.values(part as object).flat()[0],
  );
  return JSON.parse(text.join('')).widgets;
}

/** Namespace, name, then pairs of dimensions. */
function metricsOf(widgets: readonly Widget[]): readonly (readonly unknown[])[] {
  return widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter(([namespace]) => typeof namespace === 'string');
}

const plain = operate({ pools });
const detailed = operate({ pools, perPool: true });

describe('the dashboard', () => {
  const widgets = widgetsIn(plain);

  it('draws fewer than 50 metrics, all published by the function for this deployment', () => {
    const metrics = metricsOf(widgets);
    const own = metrics.filter(([namespace]) => namespace === METRICS_NAMESPACE);
    expect(new Set(own.map(([, name]) => name))).toEqual(
      new Set([...ACTIVITY_METRICS, ...ALARM_METRICS, ...Object.keys(WAIT_METRICS)]),
    );
    for (const [, , dimension, service] of own) expect([dimension, service]).toEqual(['service', 'Test']);
    expect(metrics.length).toBeLessThan(50);
  });

  it('shows overrides, retiring pools, findings, failures and the state of every alarm', () => {
    const queries = widgets.flatMap(({ properties }) => properties.query ?? []).join('\n');
    for (const field of ['override.until', 'pool.retiring', 'look.findings', 'look.failures'])
      expect(queries).toContain(field);
    const alarms = widgets.flatMap(({ properties }) => properties.alarms ?? []);
    expect(alarms).toHaveLength(Object.keys(plain.findResources('AWS::CloudWatch::Alarm')).length);
  });

  it('has a graph of each pool metric only if pools have metrics', () => {
    const byPool = (of: readonly Widget[]): readonly unknown[] =>
      metricsOf(of).filter((metric) => metric.includes('pool'));
    expect(byPool(widgets)).toEqual([]);
    const expected = POOL_METRICS.flatMap((name) => pools.map((pool) => `${name} ${pool.name}`));
    const drawn = byPool(widgetsIn(detailed)) as string[][];
    expect(drawn.map(([, name, , pool]) => `${name} ${pool}`).toSorted()).toEqual(expected.toSorted());
  });

  it('has no overlapping widgets', () => {
    for (const each of [widgets, widgetsIn(detailed)]) {
      const places = each.map(({ x, y }) => `${x} ${y}`);
      expect(new Set(places).size).toBe(places.length);
      for (const { x, width } of each) expect(x + width).toBeLessThanOrEqual(24);
    }
  });
});
