/** The boards in examples/dashboards/, from the table of the function's metrics. A stack makes none. */
import { rootSetting, settingAt } from '../lambda/config/schema/settings.ts';
import {
  BAD_ABOVE,
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  LOST_METRIC,
  METRICS_NAMESPACE,
  POOL_METRICS,
  STUCK_METRIC,
  TOKEN_METRIC,
  WAIT_METRICS,
} from '../lambda/telemetry/metric-names.ts';
import { type AutoscalerMetric, STATISTICS } from '../lambda/telemetry/statistics.ts';

type Panel = {
  readonly title: string;
  readonly metrics: readonly AutoscalerMetric[];
  /** Areas on top of each other: their sum has a meaning. */
  readonly isStacked?: boolean;
  readonly unit: 'count' | 'seconds' | 'days';
  /** Above this value an alarm calls a look bad. */
  readonly badAbove?: number;
};

/** What somebody asks first stands first. */
export const PANELS: readonly Panel[] = [
  { title: 'Jobs that wait', metrics: ['PendingJobs', 'UnservedJobs'], unit: 'count' },
  {
    ...{ title: 'How long the oldest job has waited', metrics: ['OldestPendingAge'] },
    ...{ unit: 'seconds', badAbove: BAD_ABOVE.OldestPendingAge },
  },
  {
    ...{ title: 'Daemons', metrics: ['BusyDaemons', 'IdleDaemons', 'StartingDaemons'] },
    ...{ unit: 'count', isStacked: true },
  },
  { title: 'Launches and failed starts', metrics: ['Launches', 'FailedStarts'], unit: 'count' },
  {
    ...{ title: 'Where waits went', metrics: Object.keys(WAIT_METRICS) as AutoscalerMetric[] },
    ...{ unit: 'seconds', isStacked: true },
  },
  { title: 'Pools whose limit makes jobs wait', metrics: ['PoolsAtMax'], unit: 'count' },
  {
    ...{ title: 'Age of the last full view', metrics: ['TickAge'] },
    ...{ unit: 'seconds', badAbove: BAD_ABOVE.TickAge },
  },
  {
    title: 'Problems: no line is good',
    metrics: [DEAD_METRIC, LOST_METRIC, STUCK_METRIC, CONTESTED_METRIC, LICENSE_METRIC],
    unit: 'count',
  },
  { title: 'Days until the token expires, if soon', metrics: [TOKEN_METRIC], unit: 'days' },
];

const OF_NO_BOARD = {
  'AWS/Lambda Errors': 'the name of the function belongs to your stack',
  'AWS/Usage ResourceCount': 'it is of the account, and the alarms of the vCPU quota watch it',
};

/** What alarms or pools have and a board lacks, with the reason. */
export const LEFT_OUT: Readonly<Record<'cloudwatch' | 'grafana', Readonly<Record<string, string>>>> = {
  cloudwatch: {
    ...Object.fromEntries(
      POOL_METRICS.map((name) => [`${name} of pools`, 'CloudWatch wants the name of each pool: add yours']),
    ),
    ...OF_NO_BOARD,
  },
  grafana: OF_NO_BOARD,
};

/** A board is 24 columns wide in both systems. */
const [WIDTH, HEIGHT, IN_A_ROW] = [12, 6, 2] as const;
const MINUTE_S = 60;
/** The Region of the file; the README of the boards says how to change it. */
const REGION = 'us-east-1';

const placeOf = (index: number) => ({
  x: (index % IN_A_ROW) * WIDTH,
  y: Math.floor(index / IN_A_ROW) * HEIGHT,
});

/** The default of `aws.stack`, which is the dimension `service`. */
const defaultService = (): string => String(settingAt(rootSetting(), ['aws', 'stack'])?.default);

/** The body of `aws cloudwatch put-dashboard`, with a list of the deployments in the Region (docs/internals/aws.md §10). */
export function cloudWatchBoard() {
  const service = defaultService();
  return {
    start: '-P1D',
    variables: [
      {
        ...{ type: 'property', property: 'service', inputType: 'select', id: 'service', label: 'deployment' },
        ...{ visible: true, defaultValue: '__FIRST' },
        search: `{${METRICS_NAMESPACE},service} MetricName="TickAge"`,
        populateFrom: 'service',
      },
    ],
    widgets: PANELS.map((panel, index) => ({
      type: 'metric',
      ...placeOf(index),
      ...{ width: WIDTH, height: HEIGHT },
      properties: {
        title: panel.title,
        region: REGION,
        view: 'timeSeries',
        stacked: panel.isStacked ?? false,
        period: MINUTE_S,
        metrics: panel.metrics.map((name) => [
          ...[METRICS_NAMESPACE, name, 'service', service],
          { stat: STATISTICS[name], label: name },
        ]),
        yAxis: { left: { min: 0, label: panel.unit, showUnits: false } },
        ...(panel.badAbove !== undefined && {
          annotations: { horizontal: [{ label: 'the alarm rings above', value: panel.badAbove }] },
        }),
      },
    })),
  };
}

const SOURCE = { type: 'cloudwatch', uid: '$source' } as const;
const GRAFANA_UNITS = { count: 'short', seconds: 's', days: 'd' } as const;

/** A dashboard to import into Grafana, with lists of data sources, Regions and deployments. */
export function grafanaBoard() {
  const ofPools = POOL_METRICS.map((name) => ({
    ...{ title: `${name} of pools (aws.metrics.perPool)`, unit: 'count' as const, isStacked: true },
    targets: [targetOf(0, name, { service: '$service', pool: '*' }, 'Maximum')],
  }));
  const all = PANELS.map((panel) => ({
    ...panel,
    targets: panel.metrics.map((name, at) => targetOf(at, name, { service: '$service' }, STATISTICS[name])),
  }));
  return {
    title: 'Coder provisioner autoscaler',
    uid: 'coder-provisioner-autoscaler',
    tags: ['coder'],
    schemaVersion: 39,
    editable: true,
    timezone: 'browser',
    refresh: '1m',
    time: { from: 'now-24h', to: 'now' },
    templating: { list: VARIABLES },
    annotations: { list: [] },
    panels: [...all, ...ofPools].map((panel, index) => grafanaPanel(panel, index)),
  };
}

function targetOf(
  at: number,
  metricName: string,
  dimensions: Readonly<Record<string, string>>,
  statistic: string,
) {
  return {
    ...{ refId: String.fromCharCode(65 + at), datasource: SOURCE, id: '', expression: '' },
    ...{ queryMode: 'Metrics', metricQueryType: 0, metricEditorMode: 0, matchExact: true },
    ...{ region: '$region', namespace: METRICS_NAMESPACE, metricName, dimensions, statistic },
    ...{ period: String(MINUTE_S), label: 'pool' in dimensions ? `\${PROP('Dim.pool')}` : metricName },
  };
}

type GrafanaPanel = Omit<Panel, 'metrics'> & { readonly targets: readonly unknown[] };

function grafanaPanel({ title, unit, isStacked, badAbove, targets }: GrafanaPanel, index: number) {
  const steps = [
    { color: 'green', value: null },
    ...(badAbove === undefined ? [] : [{ color: 'red', value: badAbove }]),
  ];
  return {
    ...{ id: index + 1, type: 'timeseries', title, datasource: SOURCE },
    gridPos: { ...placeOf(index), w: WIDTH, h: HEIGHT },
    fieldConfig: {
      defaults: {
        ...{ unit: GRAFANA_UNITS[unit], min: 0, thresholds: { mode: 'absolute', steps } },
        custom: {
          ...{ drawStyle: 'line', lineWidth: 1, fillOpacity: isStacked ? 40 : 0 },
          // a minute without a look is a gap, never zero
          spanNulls: false,
          stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
          thresholdsStyle: { mode: badAbove === undefined ? 'off' : 'line' },
        },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] },
      tooltip: { mode: 'multi', sort: 'none' },
    },
    targets,
  };
}

const ASKED = { hide: 0, refresh: 1, multi: false, includeAll: false, options: [], current: {} } as const;
const FOR_VARIABLES = 'CloudWatchVariableQueryEditor-VariableQuery';

const VARIABLES = [
  { ...ASKED, name: 'source', label: 'data source', type: 'datasource', query: 'cloudwatch', regex: '' },
  {
    ...ASKED,
    ...{ name: 'region', label: 'Region', type: 'query', datasource: SOURCE, regex: '', sort: 1 },
    ...{ current: { text: REGION, value: REGION }, query: { queryType: 'regions', refId: FOR_VARIABLES } },
  },
  {
    ...ASKED,
    ...{ name: 'service', label: 'deployment', type: 'query', datasource: SOURCE, regex: '', sort: 1 },
    query: {
      ...{ queryType: 'dimensionValues', refId: FOR_VARIABLES, region: '$region' },
      ...{
        namespace: METRICS_NAMESPACE,
        metricName: 'TickAge',
        dimensionKey: 'service',
        dimensionFilters: {},
      },
    },
  },
];
