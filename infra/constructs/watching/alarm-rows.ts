/**
 * The alarms, as a table. What one look tells is no reason to wake anybody: each row needs several minutes in which even the
 * best look was bad. Where no look came there is nothing to judge by, so the state stays as it was: "no-tick" tells of that.
 */
import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  type IMetric,
  MathExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import { type MetricName, STUCK_METRIC, TOKEN_METRIC } from '../../../lambda/telemetry/metric-names.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { capacitiesOf, type FargateCapacity, usedQuota } from './fargate-usage.ts';
import { lookMetric } from './look-metrics.ts';

export type AlarmRow = {
  /** Ends the alarm's name, and heads its section in docs/runbook.md. */
  readonly name: string;
  readonly metric: IMetric;
  readonly comparisonOperator: ComparisonOperator;
  readonly threshold: number;
  /** So many of the last so many periods. */
  readonly periods: { readonly wrong: number; readonly of: number };
  readonly treatMissingData: TreatMissingData;
  /** What it means and what to do first. */
  readonly tells: string;
};

const { GREATER_THAN_THRESHOLD, GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_OR_EQUAL_TO_THRESHOLD } =
  ComparisonOperator;

/** All alarms of a deployment; the vCPU quotas are those that its pools use. */
export function alarmRows(
  autoscaler: AutoscalerFunction,
  pools: readonly DeployedPool[],
): readonly AlarmRow[] {
  return [
    noLook(autoscaler),
    failingLooks(autoscaler),
    ...readings(autoscaler),
    stuckTasks(autoscaler),
    tokenExpires(autoscaler),
    ...capacitiesOf(pools).map(nearQuota),
  ];
}

function noLook({ service }: AutoscalerFunction): AlarmRow {
  const looks = lookMetric({ service, name: 'TickAge', statistic: 'SampleCount' });
  return {
    name: 'no-tick',
    // without FILL, CloudWatch would judge by older minutes as long as it finds some
    metric: new MathExpression({
      expression: 'FILL(looks, 0)',
      usingMetrics: { looks },
      period: Duration.minutes(1),
      label: 'looks',
    }),
    comparisonOperator: LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 0,
    periods: allOf(5),
    treatMissingData: TreatMissingData.BREACHING,
    tells:
      'No look has ended for 5 minutes: nothing is scaled, neither out nor in; builds that run go on. ' +
      'First: `autoscaler status` shows the last look, `autoscaler doctor` what is in the way; then whether the schedule is enabled, and its queue of undelivered looks.',
  };
}

function failingLooks({ function: lambda }: AutoscalerFunction): AlarmRow {
  return {
    name: 'failing-ticks',
    metric: lambda.metricErrors({ period: Duration.minutes(1), label: 'failed looks' }),
    comparisonOperator: GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    periods: { wrong: 3, of: 5 },
    // Lambda tells no errors where it ran nothing
    treatMissingData: TreatMissingData.NOT_BREACHING,
    tells:
      'The look failed in at least 3 of the last 5 minutes: some pools, or all, are not scaled. ' +
      'First: `autoscaler doctor`; the failures, one line a cause, are in the saved log query "failures", or else in the function\'s log.',
  };
}

type Reading = {
  readonly name: string;
  readonly metric: MetricName;
  readonly above: number;
  readonly minutes: number;
  /** @default as many */
  readonly ofMinutes?: number;
  readonly tells: string;
};

const READINGS: readonly Reading[] = [
  {
    name: 'sight-lost',
    metric: 'TickAge',
    above: 300,
    // an instance of the function that was idle for long starts with an old age, and sees well at its first look
    minutes: 3,
    tells:
      'For more than 5 minutes no look saw everything that it should: nobody is asked to leave (doubt never scales in), and new jobs may go unseen. ' +
      'First: `autoscaler doctor` (coderd reachable, token valid, role sufficient); `autoscaler status` names the readings that failed.',
  },
  {
    name: 'job-waits',
    metric: 'OldestPendingAge',
    above: 300,
    minutes: 2,
    tells:
      'Somebody has waited for more than 5 minutes for a provisioner. ' +
      'First: `autoscaler status` shows who waits, for which pool, and whether tasks are starting, are at a bound, or fail.',
  },
  {
    name: 'unserved-jobs',
    metric: 'UnservedJobs',
    above: 0,
    minutes: 3,
    tells:
      'Jobs wait that no pool can ever run: their tags or their organization are in no pool of the configuration. ' +
      "First: `autoscaler status` shows their tags and the pool that comes closest; mend the template's tags, or add a pool.",
  },
  {
    name: 'pool-at-max',
    metric: 'PoolsAtMax',
    above: 0,
    minutes: 10,
    tells:
      'For 10 minutes jobs have waited because a pool is held at its `max`, or by `maxTasks`. ' +
      "First: `autoscaler status` names the pool; raise `max` and deploy, if coderd's database and your budget allow it.",
  },
  {
    name: 'starts-failing',
    metric: 'FailedStarts',
    above: 0,
    // one failed start is told for 10 minutes: more than that are several, and between them may be a minute without any
    minutes: 12,
    ofMinutes: 20,
    tells:
      'Tasks keep stopping before their daemon has registered, or ECS cannot place them: pools cannot grow. ' +
      "First: `autoscaler status` names the pool and ECS's reason; `autoscaler doctor` checks key, secrets, image and service; then the log of the pool's tasks.",
  },
];

function readings({ service }: AutoscalerFunction): readonly AlarmRow[] {
  return READINGS.map(({ name, metric, above, minutes, ofMinutes = minutes, tells }) => ({
    name,
    metric: lookMetric({ service, name: metric, statistic: 'Minimum' }),
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: above,
    periods: { wrong: minutes, of: ofMinutes },
    treatMissingData: TreatMissingData.IGNORE,
    tells,
  }));
}

function stuckTasks({ service }: AutoscalerFunction): AlarmRow {
  return {
    name: 'drain-stuck',
    metric: lookMetric({ service, name: STUCK_METRIC, statistic: 'Minimum', period: Duration.minutes(15) }),
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 0,
    periods: allOf(1),
    // it is told only while there are such tasks
    treatMissingData: TreatMissingData.NOT_BREACHING,
    tells:
      'Tasks drain and do not leave: for 30 minutes without a live daemon, or for 6 hours. They are paid for, and their pool can not replace them. ' +
      'First: `autoscaler status` names the tasks; read their log, and stop those in ECS that run no build.',
  };
}

function tokenExpires({ service }: AutoscalerFunction): AlarmRow {
  return {
    name: 'token-expires',
    metric: lookMetric({ service, name: TOKEN_METRIC, statistic: 'Minimum', period: Duration.minutes(15) }),
    comparisonOperator: LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 14,
    periods: allOf(1),
    // it is told only while the end is near
    treatMissingData: TreatMissingData.NOT_BREACHING,
    tells:
      "The autoscaler's token for coderd expires within 14 days; from then on nothing is seen, and nothing is scaled. " +
      'First: `autoscaler doctor` tells the day; make a new token and put it into the secret. No deployment is needed.',
  };
}

function nearQuota(capacity: FargateCapacity): AlarmRow {
  return {
    name: `vcpu-quota-${capacity.name}`,
    metric: usedQuota(capacity, Duration.minutes(5)),
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 80,
    periods: allOf(2),
    // no task runs
    treatMissingData: TreatMissingData.NOT_BREACHING,
    tells:
      `More than 80 % of the account's Fargate vCPUs (${capacity.name}, this region, everything that runs here) are in use; at 100 % tasks no longer start. ` +
      `First: ask for more of quota ${capacity.quotaCode} in Service Quotas; until then a lower \`max\` decides which pool goes short.`,
  };
}

function allOf(periods: number): AlarmRow['periods'] {
  return { wrong: periods, of: periods };
}
