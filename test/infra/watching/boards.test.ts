/** The boards of examples/dashboards/: their metrics, and the structure that CloudWatch and Grafana document. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cloudWatchBoard, grafanaBoard, LEFT_OUT, PANELS } from '../../../cli/boards.ts';
import { BOARDS } from '../../../cli/docs.ts';
import { lookMetric } from '../../../infra/constructs/watching/look-metrics.ts';
import { METRICS_NAMESPACE, POOL_METRICS } from '../../../lambda/telemetry/metric-names.ts';
import { type AutoscalerMetric, STATISTICS } from '../../../lambda/telemetry/statistics.ts';
import { poolName } from '../../support/parts.ts';
import { deployedPool, operate } from '../support/operated.ts';

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
/** A part of an alarm on an expression. */
type Part = { readonly MetricStat?: { readonly Metric: object } };
const NAMES = Object.keys(STATISTICS).sort();

it.each(BOARDS)('has in $file what npm run docs writes', ({ file, board }) => {
  expect(read(file)).toBe(`${JSON.stringify(board(), null, 2)}\n`);
});

it('has each metric of a deployment in one panel', () => {
  expect(PANELS.flatMap(({ metrics }) => metrics).sort()).toEqual(NAMES);
});

it('names each metric of an alarm that no board has, and why', () => {
  const template = operate({ pools: [deployedPool({ name: poolName('cpu') })] });
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  const others = alarms
    .flatMap(({ Properties: { Metrics = [], ...metric } }) => [
      metric,
      ...Metrics.flatMap(({ MetricStat }: Part) => MetricStat?.Metric ?? []),
    ])
    .filter(({ Namespace = METRICS_NAMESPACE }) => Namespace !== METRICS_NAMESPACE)
    .map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`);
  const ofPools = POOL_METRICS.map((name) => `${name} of pools`);
  expect(others.length).toBeGreaterThan(1);
  expect(Object.keys(LEFT_OUT.grafana).sort()).toEqual([...new Set(others)].sort());
  expect(Object.keys(LEFT_OUT.cloudwatch).sort()).toEqual([...new Set([...others, ...ofPools])].sort());
  const readme = read('examples/dashboards/README.md').replaceAll(/\s+/g, ' ');
  for (const why of Object.values(LEFT_OUT.cloudwatch)) expect(readme).toContain(why);
});

/** Dashboard Body Structure and Syntax (docs/internals/aws.md §10). */
const Name = z.string().min(1).max(255);
const Widget = z.strictObject({
  type: z.literal('metric'),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  width: z.int().min(1).max(24),
  height: z.int().min(1).max(1000),
  properties: z.strictObject({
    title: z.string(),
    region: z.string().regex(/^[a-z]{2}-[a-z]+-\d$/),
    view: z.enum(['timeSeries', 'singleValue', 'gauge', 'bar', 'pie', 'table']),
    stacked: z.boolean(),
    period: z.int().multipleOf(60),
    metrics: z
      .array(
        z.tuple([
          Name,
          Name,
          Name,
          Name,
          z.strictObject({ stat: z.enum(['Minimum', 'Maximum', 'Sum', 'SampleCount']), label: Name }),
        ]),
      )
      .min(1)
      .max(500),
    yAxis: z.strictObject({
      left: z.strictObject({ min: z.number(), label: z.string(), showUnits: z.boolean() }),
    }),
    annotations: z
      .strictObject({ horizontal: z.array(z.strictObject({ label: z.string(), value: z.number() })) })
      .optional(),
  }),
});
const Body = z.strictObject({
  start: z.string().regex(/^-P(\d+D|T\d+H)$/),
  variables: z
    .array(
      z.strictObject({
        type: z.enum(['property', 'pattern']),
        property: Name,
        inputType: z.enum(['input', 'select', 'radio']),
        id: z.string().max(32),
        label: z.string(),
        visible: z.boolean(),
        defaultValue: z.string(),
        search: z.string(),
        populateFrom: Name,
      }),
    )
    .max(25),
  widgets: z.array(Widget).max(500),
});

type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

/** Pairs of panels that cover each other, and panels that leave the 24 columns. */
function misplaced(places: readonly Place[]): readonly unknown[] {
  const wide = places.filter(({ x, w }) => x + w > 24);
  const covered = places.flatMap((one, at) =>
    places
      .slice(at + 1)
      .filter(
        (other) =>
          one.x < other.x + other.w &&
          other.x < one.x + one.w &&
          one.y < other.y + other.h &&
          other.y < one.y + one.h,
      ),
  );
  return [...wide, ...covered];
}

describe('the board for CloudWatch', () => {
  const body = Body.parse(JSON.parse(read('examples/dashboards/cloudwatch.json')));

  it('has the metrics of the alarms: namespace, dimension, statistic', () => {
    const shown = body.widgets.flatMap(({ properties }) => properties.metrics);
    for (const [namespace, name, dimension, value, { stat }] of shown) {
      const metric = lookMetric(value, name as AutoscalerMetric);
      expect({ namespace, dimensions: { [dimension]: value }, stat }).toEqual({
        namespace: metric.namespace,
        dimensions: metric.dimensions,
        stat: metric.statistic,
      });
    }
    expect(shown.map(([, name]) => name).sort()).toEqual(NAMES);
  });

  it('offers the deployments of the Region by the dimension that its metrics have', () => {
    expect(body.variables).toMatchObject([
      {
        property: 'service',
        populateFrom: 'service',
        search: `{${METRICS_NAMESPACE},service} MetricName="TickAge"`,
      },
    ]);
  });

  it('places its graphs side by side', () => {
    expect(
      misplaced(body.widgets.map(({ width, height, ...at }) => ({ ...at, w: width, h: height }))),
    ).toEqual([]);
  });

  it('is short enough for the command line of aws', () => {
    expect(JSON.stringify(cloudWatchBoard()).length).toBeLessThan(100_000);
  });
});

const Target = z.looseObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource: z.strictObject({ type: z.literal('cloudwatch'), uid: z.literal('$source') }),
  queryMode: z.literal('Metrics'),
  metricQueryType: z.literal(0),
  metricEditorMode: z.literal(0),
  matchExact: z.literal(true),
  region: z.literal('$region'),
  namespace: z.literal(METRICS_NAMESPACE),
  metricName: z.string(),
  dimensions: z.record(z.string(), z.string()),
  statistic: z.string(),
  period: z.string().regex(/^\d+$/),
});
const Dashboard = z.looseObject({
  title: Name,
  uid: z
    .string()
    .max(40)
    .regex(/^[\w-]+$/),
  schemaVersion: z.int().min(36),
  templating: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), type: z.enum(['datasource', 'query']) })),
  }),
  panels: z.array(
    z.looseObject({
      id: z.int().min(1),
      type: z.literal('timeseries'),
      title: Name,
      gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z.array(Target).min(1),
    }),
  ),
});

describe('the board for Grafana', () => {
  const dashboard = Dashboard.parse(JSON.parse(read('examples/dashboards/grafana.json')));
  const targets = dashboard.panels.flatMap((panel) => panel.targets);

  it('has the metrics of a deployment and of its pools, with dimension and statistic', () => {
    const [ofPools, others] = [true, false].map((isPool) =>
      targets.filter(({ dimensions }) => 'pool' in dimensions === isPool),
    );
    expect(others?.map(({ metricName }) => metricName).sort()).toEqual(NAMES);
    for (const { metricName, dimensions, statistic } of others ?? [])
      expect({ dimensions, statistic }).toEqual({
        dimensions: { service: '$service' },
        statistic: STATISTICS[metricName as AutoscalerMetric],
      });
    expect(ofPools?.map(({ metricName }) => metricName)).toEqual([...POOL_METRICS]);
    for (const { dimensions } of ofPools ?? [])
      expect(dimensions).toEqual({ service: '$service', pool: '*' });
  });

  it('uses only variables that it has, and each one', () => {
    const text = JSON.stringify(grafanaBoard());
    const used = [...text.matchAll(/"\$(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(dashboard.templating.list.map(({ name }) => name).sort());
  });

  it('numbers its panels and targets once, side by side', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const panel of dashboard.panels) {
      const refs = panel.targets.map(({ refId }) => refId);
      expect(new Set(refs).size).toBe(refs.length);
    }
    expect(misplaced(dashboard.panels.map(({ gridPos }) => gridPos))).toEqual([]);
  });

  it('has no number that Grafana gives on import', () => {
    expect(dashboard.id).toBeUndefined();
  });
});
