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
  type IWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { priceOf } from '../../../lambda/decision/settings/prices.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { byPool, daemonFormula, graph, looks, question, table, waitParts } from './dashboard-widgets.ts';
import { capacitiesOf, usedQuota } from './fargate-usage.ts';

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

function waiting({ autoscaler, pools, perPool }: DashboardProps): IWidget[][] {
  const jobs = looks(autoscaler, { PendingJobs: 'Maximum', UnservedJobs: 'Maximum' });
  const wait = looks(autoscaler, { OldestPendingAge: 'Maximum' });
  return [
    [question('Is anyone waiting?')],
    [
      graph({ title: 'Jobs', left: jobs }),
      graph({ title: 'Longest pending job, in seconds', left: wait, alarmAt: 300 }),
      table(autoscaler, { title: 'Pending jobs by tag group', query: 'who waits and since when' }),
    ],
    [
      graph({
        title: 'Where the waits of started jobs went, in seconds',
        left: waitParts(autoscaler),
        stacked: true,
      }),
      table(autoscaler, {
        title: 'Where the waits of started jobs went, by pool',
        query: 'where the waits went by pool',
        width: 16,
      }),
    ],
    ...(perPool
      ? [[graph({ title: 'Pending jobs by pool', left: byPool(autoscaler, pools, 'PendingJobs') })]]
      : []),
  ];
}

function coming({ autoscaler, pools, perPool }: DashboardProps): IWidget[][] {
  const daemons = looks(autoscaler, {
    BusyDaemons: 'Maximum',
    IdleDaemons: 'Maximum',
    StartingDaemons: 'Maximum',
  });
  const changes = looks(autoscaler, { Launches: 'Sum', FailedStarts: 'Maximum', PoolsAtMax: 'Maximum' });
  const quota = capacitiesOf(pools).map((capacity) => usedQuota(capacity, Duration.minutes(5)));
  return [
    [question('Is capacity coming?')],
    [
      graph({ title: 'Daemons', left: daemons, stacked: true }),
      graph({ title: 'Launches, failed starts and pools at max', left: changes }),
      graph({
        title: 'Fargate vCPUs of the account, in percent of the quota',
        left: quota,
        alarmAt: 80,
        most: 100,
      }),
    ],
    [
      table(autoscaler, {
        title: 'Pools at the last look',
        query: 'pools as seen last',
        width: 12,
      }),
      table(autoscaler, {
        title: 'Overrides: end, author, reason and effect',
        query: 'what an override did',
        width: 12,
      }),
    ],
    ...(perPool
      ? [
          [
            graph({ title: 'Busy daemons by pool', left: byPool(autoscaler, pools, 'BusyDaemons') }),
            graph({ title: 'Desired tasks by pool', left: byPool(autoscaler, pools, 'DesiredTasks') }),
          ],
        ]
      : []),
  ];
}

function cost({ autoscaler, pools }: DashboardProps): IWidget[][] {
  const dearest = Math.max(...pools.map(priceOf)) / 1e6;
  const dollars = { label: 'dollars an hour', expression: `${dearest} * (busy + idle + starting)` };
  const waste = { label: 'idle', expression: 'IF(busy + idle > 0, 100 * idle / (busy + idle), 0)' };
  return [
    [question('What does it cost?')],
    [
      graph({
        title: 'Upper bound of Fargate cost, at the price of the most expensive pool (us-east-1)',
        left: [daemonFormula(autoscaler, dollars)],
      }),
      graph({
        title: 'Idle daemons, in percent',
        left: [daemonFormula(autoscaler, waste)],
        most: 100,
      }),
      table(autoscaler, { title: 'Task hours by pool', query: 'cost in task hours by pool' }),
    ],
  ];
}

function broken({ autoscaler, alarms = [] }: DashboardProps): IWidget[][] {
  const { function: lambda } = autoscaler;
  const period = Duration.minutes(1);
  const failed = lambda.metricErrors({ period, label: 'failed' });
  const throttled = lambda.metricThrottles({ period, label: 'throttled' });
  const longest = lambda.metricDuration({ period, statistic: 'Maximum', label: 'longest, ms' });
  const age = looks(autoscaler, { TickAge: 'Minimum' });
  return [
    [question('What is broken?')],
    ...(alarms.length > 0
      ? [[new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 3, alarms: [...alarms] })]]
      : []),
    [
      graph({ title: 'Seconds since the last complete look', left: age, alarmAt: 300 }),
      graph({ title: 'Looks', left: [failed, throttled], right: [longest] }),
      table(autoscaler, { title: 'Failures of looks', query: 'failures' }),
    ],
    [table(autoscaler, { title: 'Findings', query: 'findings', width: 24 })],
  ];
}
