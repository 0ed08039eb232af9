/**
 * The CloudWatch dashboard, built from the metrics and log events of the function. It answers four
 * questions, in the order of an incident: is anyone waiting, is capacity coming, what does it cost,
 * what is broken.
 */
import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard as CloudWatchDashboard,
  type IAlarm,
  type IMetric,
  type IWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { partsOf } from '../../../lambda/decision/settings/parts.ts';
import { priceOf } from '../../../lambda/decision/settings/prices.ts';
import {
  type PoolMetricName,
  WAIT_METRICS,
  type WaitMetricName,
} from '../../../lambda/telemetry/metric-names.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { daemonFormula, graph, question, table } from './dashboard-widgets.ts';
import { capacitiesOf, usedQuota } from './fargate-usage.ts';
import { type AutoscalerMetric, lookMetric, publishedMetric } from './look-metrics.ts';

export type DashboardProps = {
  readonly autoscaler: AutoscalerFunction;
  readonly pools: readonly DeployedPool[];
  /** Whether the function publishes metrics for each pool. */
  readonly perPool: boolean;
  /** @default no alarm widget */
  readonly alarms?: readonly IAlarm[];
};

export class Dashboard extends Construct {
  readonly dashboard: CloudWatchDashboard;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    this.dashboard = new CloudWatchDashboard(this, 'Dashboard', {
      // An account has one list of dashboards for all regions.
      dashboardName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      defaultInterval: Duration.hours(3),
      widgets: [[introduction()], ...waiting(props), ...coming(props), ...cost(props), ...broken(props)],
    });
  }
}

function introduction(): IWidget {
  return new TextWidget({
    width: 24,
    height: 2,
    markdown:
      '`autoscaler status` shows pending jobs, pool sizes, overrides and failures. `autoscaler doctor` finds the cause of a problem and how to fix it. ' +
      '`autoscaler pause`, `resume`, `pin` and `unpin` override the autoscaler for a time, without a deployment. ' +
      '`docs/operate.md` has a section for each alarm. More queries are saved in Logs Insights.',
  });
}

function looks({ autoscaler }: DashboardProps, ...names: readonly AutoscalerMetric[]): IMetric[] {
  return names.map((name) => lookMetric(autoscaler.service, name));
}

/** A graph with a line for each pool. No graphs if the function publishes no such metrics. */
function byPool(
  { autoscaler, pools, perPool }: DashboardProps,
  titles: Readonly<Partial<Record<PoolMetricName, string>>>,
): IWidget[][] {
  if (!perPool) return [];
  const { service } = autoscaler;
  const graphs = Object.entries(titles).map(([metric, title]) =>
    graph(
      title,
      pools.map(({ name: pool }) =>
        publishedMetric({ service, pool }, metric, 'Maximum').with({ label: pool }),
      ),
    ),
  );
  return [graphs];
}

function waiting(props: DashboardProps): IWidget[][] {
  const { autoscaler } = props;
  // most minutes have no value
  const period = Duration.minutes(5);
  const parts = (Object.keys(WAIT_METRICS) as WaitMetricName[]).map((name) =>
    lookMetric(autoscaler.service, name, { period }),
  );
  return [
    question('Is anyone waiting?'),
    [
      graph('Jobs', looks(props, 'PendingJobs', 'UnservedJobs')),
      graph('Longest pending job, in seconds', looks(props, 'OldestPendingAge'), { alarmAt: 300 }),
      table(autoscaler, 'Pending jobs by tag group', 'who waits and since when'),
    ],
    [
      graph('Where the waits of started jobs went, in seconds', parts, { stacked: true }),
      table(autoscaler, 'Where the waits of started jobs went, by pool', 'where the waits went by pool', 16),
    ],
    ...byPool(props, { PendingJobs: 'Pending jobs by pool' }),
  ];
}

function coming(props: DashboardProps): IWidget[][] {
  const { autoscaler, pools } = props;
  const daemons = looks(props, 'BusyDaemons', 'IdleDaemons', 'StartingDaemons');
  const changes = looks(props, 'Launches', 'FailedStarts', 'PoolsAtMax');
  const quota = capacitiesOf(pools).map(usedQuota);
  return [
    question('Is capacity coming?'),
    [
      graph('Daemons', daemons, { stacked: true }),
      graph('Launches, failed starts and pools at max', changes),
      graph('Fargate vCPUs of the account, in percent of the quota', quota, { alarmAt: 80, most: 100 }),
    ],
    [
      table(autoscaler, 'Pools at the last look', 'pools as seen last', 12),
      table(autoscaler, 'Overrides: end, author, reason and effect', 'what an override did', 12),
    ],
    ...byPool(props, { BusyDaemons: 'Busy daemons by pool', DesiredTasks: 'Desired tasks by pool' }),
  ];
}

function cost({ autoscaler, pools }: DashboardProps): IWidget[][] {
  const dearest = Math.max(...pools.flatMap(partsOf).map(priceOf)) / 1e6;
  const dollars = daemonFormula(autoscaler, 'dollars an hour', `${dearest} * (busy + idle + starting)`);
  const idle = daemonFormula(autoscaler, 'idle', 'IF(busy + idle > 0, 100 * idle / (busy + idle), 0)');
  return [
    question('What does it cost?'),
    [
      graph('Upper bound of Fargate cost, at the price of the most expensive pool (us-east-1)', [dollars]),
      graph('Idle daemons, in percent', [idle], { most: 100 }),
      table(autoscaler, 'Task hours by pool', 'cost in task hours by pool'),
    ],
  ];
}

function broken(props: DashboardProps): IWidget[][] {
  const { autoscaler, alarms = [] } = props;
  const { function: lambda } = autoscaler;
  const period = Duration.minutes(1);
  const failed = lambda.metricErrors({ period, label: 'failed' });
  const throttled = lambda.metricThrottles({ period, label: 'throttled' });
  const longest = lambda.metricDuration({ period, statistic: 'Maximum', label: 'longest, ms' });
  return [
    question('What is broken?'),
    ...(alarms.length > 0
      ? [[new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 3, alarms: [...alarms] })]]
      : []),
    [
      graph('Seconds since the last complete look', looks(props, 'TickAge'), { alarmAt: 300 }),
      graph('Looks', [failed, throttled], { right: [longest] }),
      table(autoscaler, 'Failures of looks', 'failures'),
    ],
    [table(autoscaler, 'Findings', 'findings', 24)],
  ];
}
