/**
 * Derives the table of alarms from the pools and the metrics of the function. An alarm needs
 * several minutes in which even the best look was bad: a single look must not page anyone. Without
 * looks most alarms keep their state, and "no-tick" reports the missing looks.
 */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import {
  type ALARM_METRICS,
  BAD_ABOVE,
  CONTESTED_METRIC,
  DEAD_METRIC,
  LICENSE_METRIC,
  type RareMetricName,
  STUCK_METRIC,
  TOKEN_DAYS,
  TOKEN_METRIC,
} from '../../../lambda/telemetry/metric-names.ts';
import type { AutoscalerMetric, Statistic } from '../../../lambda/telemetry/statistics.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { capacitiesOf, type FargateCapacity, usedQuota } from './fargate-usage.ts';
import { lookMetric } from './look-metrics.ts';

export type AlarmRow = {
  /** The end of the alarm's name, and the heading of its section in docs/operate.md. */
  readonly name: string;
  readonly metric: IMetric;
  readonly comparisonOperator: ComparisonOperator;
  readonly threshold: number;
  /** The alarm goes off when `wrong` of the last `of` periods breach the threshold. */
  readonly periods: { readonly wrong: number; readonly of: number };
  readonly treatMissingData: TreatMissingData;
  /** Whether people cannot work, whether somebody has to look in working hours, or before it gets worse. */
  readonly urgency: 'Now' | 'Today' | 'This week';
  /** What is wrong, the consequence, and what to do first. */
  readonly description: string;
};

/** An alarm on a metric of looks. */
type LookAlarm = Omit<AlarmRow, 'metric'> & {
  readonly metric: {
    readonly name: AutoscalerMetric;
    readonly statistic: Statistic;
    readonly minutes: number;
  };
};

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_OR_EQUAL_TO_THRESHOLD } =
  ComparisonOperator;

/** All alarms of a deployment. The vCPU quotas are those that its pools use. */
export function alarmRows(
  autoscaler: AutoscalerFunction,
  pools: readonly DeployedPool[],
  keyFunction: IFunction | undefined,
): readonly AlarmRow[] {
  const { service, function: lambda } = autoscaler;
  return [
    noLook(service),
    failingLooks(lambda),
    ...LOOK_ALARMS.map(({ metric: { name, statistic, minutes }, ...row }) => ({
      ...row,
      metric: lookMetric(service, name, { statistic, period: Duration.minutes(minutes) }),
    })),
    ...(keyFunction === undefined ? [] : [failingKeys(keyFunction)]),
    ...capacitiesOf(pools).map(nearQuota),
  ];
}

function noLook(service: string): AlarmRow {
  const looks = lookMetric(service, 'TickAge', { statistic: 'SampleCount' });
  return {
    name: 'no-tick',
    urgency: 'Now',
    // Without FILL, CloudWatch would evaluate older minutes as long as it finds some.
    metric: new MathExpression({
      expression: 'FILL(looks, 0)',
      usingMetrics: { looks },
      period: Duration.minutes(1),
      label: 'looks',
    }),
    comparisonOperator: LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 0,
    periods: { wrong: 5, of: 5 },
    treatMissingData: TreatMissingData.BREACHING,
    description:
      'For 5 minutes no look has ended, or none could read anything from coderd, or the services of ECS. No pool scales out or in. Running builds continue. ' +
      'Or no metric has come: metrics travel in the log group of the function. If that is missing or cannot be written, pools may scale all the same. ' +
      'First: check that coderd is up. Run `autoscaler status` for the last look and `autoscaler doctor` for the cause. Then check that the log group exists, that the schedule is enabled, and that its queue of undelivered invocations is empty.',
  };
}

/** Lambda publishes no errors while a function does not run. */
const ON_ERRORS = {
  comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
  threshold: 1,
  treatMissingData: TreatMissingData.NOT_BREACHING,
} as const;

function failingLooks(lambda: IFunction): AlarmRow {
  return {
    ...ON_ERRORS,
    name: 'failing-ticks',
    urgency: 'Now',
    metric: lambda.metricErrors({ period: Duration.minutes(1), label: 'failed looks' }),
    // what fails in each third minute must ring too, and not ring again and again
    periods: { wrong: 3, of: 15 },
    description:
      'Looks failed in at least 3 of the last 15 minutes. Some or all pools do not scale, or do so late. ' +
      'First: run `autoscaler doctor`. The saved log query "failures" lists the causes. If it is empty, read the log of the function.',
  };
}

function failingKeys(keyFunction: IFunction): AlarmRow {
  return {
    ...ON_ERRORS,
    name: 'keys-failing',
    urgency: 'This week',
    metric: keyFunction.metricErrors({ period: Duration.hours(1), label: 'failed runs' }),
    // The sweep runs every 15 minutes: one that fails once has three more in this hour.
    periods: { wrong: 2, of: 2 },
    description:
      'The key function has failed for two hours: it cannot rotate or delete provisioner keys. The current keys continue to work. ' +
      'First: run `autoscaler doctor`. The log of the function has each cause, often the role or the expired token of `managedKeys.token`.',
  };
}

type Rule = Omit<LookAlarm, 'name' | 'urgency' | 'description'>;

/** On the best look of each minute. */
function above(name: (typeof ALARM_METRICS)[number], wrong: number, of = wrong): Rule {
  return {
    metric: { name, statistic: 'Minimum', minutes: 1 },
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: BAD_ABOVE[name],
    periods: { wrong, of },
    treatMissingData: TreatMissingData.IGNORE,
  };
}

/** On a metric that the function publishes only while the problem lasts. */
function whilePublished(name: RareMetricName): Rule {
  return {
    metric: { name, statistic: 'Minimum', minutes: 15 },
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 0,
    periods: { wrong: 1, of: 1 },
    treatMissingData: TreatMissingData.NOT_BREACHING,
  };
}

const LOOK_ALARMS: readonly LookAlarm[] = [
  {
    name: 'sight-lost',
    urgency: 'Today',
    // After a long idle time an instance of the function reports an old age, although its first
    // look reads everything.
    ...above('TickAge', 3),
    description:
      'For more than 5 minutes no look could read everything from coderd and ECS. Scale-in is on hold, and the autoscaler may miss new jobs. ' +
      'If coderd has refused all daemons, the next one that registers ends it: that of a build, or of the one task that each key launches once an hour. ' +
      'First: run `autoscaler doctor` to check the connection to coderd, the token and its role. `autoscaler status` names the readings that failed.',
  },
  {
    name: 'job-waits',
    urgency: 'Now',
    ...above('OldestPendingAge', 2),
    description:
      'A job that somebody waits for has been pending for more than 5 minutes, or coderd has failed jobs within the hour because no daemon took them in 30 minutes. ' +
      'First: run `autoscaler status`. It shows the pending jobs and their pools, whether tasks are starting, limited or failing, and which jobs were lost.',
  },
  {
    name: 'unserved-jobs',
    urgency: 'Now',
    ...above('UnservedJobs', 3),
    description:
      'Some pending jobs are unschedulable: no pool in the configuration has their organization and tags. ' +
      'First: run `autoscaler status`. It shows their tags and the pool that is most similar. Then correct the tags of the template, or add a pool.',
  },
  {
    name: 'pool-at-max',
    urgency: 'Today',
    ...above('PoolsAtMax', 10),
    description:
      'Jobs have been pending for 10 minutes because `max` or `maxTasks` limits a pool. ' +
      'First: run `autoscaler status` for the pool, who submits its jobs, how many coderd will fail, and the `max` that would serve all. ' +
      "Cancel jobs that nobody needs. Then raise the limit and deploy, if coderd's database and your budget allow it.",
  },
  {
    name: 'starts-failing',
    urgency: 'Now',
    // A failed start is reported for 10 minutes, several for an hour unless a start succeeds. 12 minutes of 20 mean
    // several failed starts, with possible gaps between them.
    ...above('FailedStarts', 12, 20),
    description:
      'Tasks stop before their daemon has registered, or ECS cannot place them. The affected pools cannot scale out, or have not tried again since. ' +
      "First: run `autoscaler status` for the pool and ECS's reason, and `autoscaler doctor` to check key, secrets, image and service. Then read the log of the pool's tasks. " +
      'After failed starts ECS waits up to 27 minutes before its next try: both say for how long it has waited, and print the command that ends this once you have fixed the cause.',
  },
  {
    name: 'drain-stuck',
    urgency: 'Today',
    ...whilePublished(STUCK_METRIC),
    description:
      'Tasks are draining but do not stop: for 30 minutes without a live daemon, or for 6 hours. They cost money, and their pool cannot replace them. ' +
      'First: run `autoscaler status` to find the tasks. Read their log, and stop in ECS the ones that run no build.',
  },
  {
    name: 'builds-died',
    urgency: 'Today',
    ...whilePublished(DEAD_METRIC),
    // The function publishes it for about an hour after a death.
    metric: { name: DEAD_METRIC, statistic: 'Maximum', minutes: 5 },
    description:
      'A build died with its task: Spot, a host failure, memory, or StopTask. coderd never got its new state, so resources may be left over in the cloud. ' +
      'First: run `autoscaler explain --dead`. It lists each such build with its cause, and what to check.',
  },
  {
    name: 'count-contested',
    urgency: 'Today',
    ...whilePublished(CONTESTED_METRIC),
    description:
      'Something else keeps changing the desired count of a pool, for example Application Auto Scaling. The pool does not scale in, and only pending jobs launch tasks. ' +
      'First: run `autoscaler doctor` to find scalable targets, and deregister them.',
  },
  {
    name: 'token-expires',
    urgency: 'This week',
    ...whilePublished(TOKEN_METRIC),
    comparisonOperator: LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: TOKEN_DAYS,
    description:
      "The autoscaler's API token for coderd expires within 14 days. After that the autoscaler cannot read coderd and does not scale. " +
      'First: run `autoscaler doctor` for the date. Create a new token and store it in the secret. No deployment is needed.',
  },
  {
    name: 'license-ends',
    urgency: 'Now',
    ...whilePublished(LICENSE_METRIC),
    description:
      "coderd's license for external provisioner daemons is missing, or has expired and is in its grace period. Without it no daemon can connect, and all jobs wait. " +
      'First: open Deployment > Licenses in coderd, and renew the license.',
  },
];

function nearQuota(capacity: FargateCapacity): AlarmRow {
  return {
    name: `vcpu-quota-${capacity.name}`,
    urgency: 'Today',
    metric: usedQuota(capacity),
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 80,
    periods: { wrong: 2, of: 2 },
    // CloudWatch has no data while no task runs.
    treatMissingData: TreatMissingData.NOT_BREACHING,
    description:
      `This account uses more than 80 % of its quota of Fargate vCPUs (${capacity.name}, this region, all tasks included). At 100 % new tasks cannot start. ` +
      `First: request an increase of quota ${capacity.quotaCode} in Service Quotas. Until then, lower \`max\` of less important pools.`,
  };
}
