/** The kinds of widgets on the dashboard. Three fit in a row. */
import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { DeployedPool } from '../../../lambda/config/rules/deployment.ts';
import {
  type MetricName,
  type PoolMetricName,
  WAIT_METRICS,
  type WaitMetricName,
} from '../../../lambda/telemetry/metric-names.ts';
import type { AutoscalerFunction } from '../function/autoscaler-function.ts';
import { type QueryName, queryLines } from './log-queries.ts';
import { lookMetric, poolMetric, type Statistic } from './look-metrics.ts';

const THIRD = { width: 8, height: 6 };

/** A heading above the widgets that answer the question. */
export function question(text: string): IWidget {
  return new TextWidget({ width: 24, height: 1, markdown: `## ${text}` });
}

export type Graph = {
  readonly title: string;
  readonly left: IMetric[];
  readonly right?: IMetric[];
  readonly stacked?: boolean;
  /** The alarm's threshold, drawn as a horizontal line. */
  readonly alarmAt?: number;
  /** The top of the scale. @default the highest value */
  readonly most?: number;
};

export function graph({ alarmAt, most, ...shown }: Graph): IWidget {
  return new GraphWidget({
    ...THIRD,
    ...shown,
    leftYAxis: { min: 0, max: most },
    leftAnnotations: alarmAt === undefined ? [] : [{ value: alarmAt, label: 'alarm' }],
  });
}

/** The metrics of a deployment with these names, each with its statistic. */
export function looks(
  { service }: AutoscalerFunction,
  statistics: Readonly<Partial<Record<MetricName, Statistic>>>,
): IMetric[] {
  const entries = Object.entries(statistics) as [MetricName, Statistic][];
  return entries.map(([name, statistic]) => lookMetric({ service, name, statistic }));
}

/** The metrics of the parts of waits. Five minutes: most minutes have no value. */
export function waitParts({ service }: AutoscalerFunction): IMetric[] {
  const names = Object.keys(WAIT_METRICS) as WaitMetricName[];
  const period = Duration.minutes(5);
  return names.map((name) => lookMetric({ service, name, statistic: 'Sum', period }));
}

/** One metric for each pool. */
export function byPool(
  { service }: AutoscalerFunction,
  pools: readonly DeployedPool[],
  name: PoolMetricName,
): IMetric[] {
  return pools.map((pool) => poolMetric({ service, name, pool: pool.name }));
}

export type Formula = {
  readonly label: string;
  /** `busy`, `idle` and `starting` are daemons. */
  readonly expression: string;
};

export function daemonFormula({ service }: AutoscalerFunction, formula: Formula): IMetric {
  const daemons = (name: MetricName): IMetric => lookMetric({ service, name, statistic: 'Maximum' });
  const all = {
    busy: daemons('BusyDaemons'),
    idle: daemons('IdleDaemons'),
    starting: daemons('StartingDaemons'),
  };
  const used = Object.entries(all).filter(([name]) => formula.expression.includes(name));
  return new MathExpression({
    ...formula,
    usingMetrics: Object.fromEntries(used),
    period: Duration.minutes(1),
  });
}

export type Table = { readonly title: string; readonly query: QueryName; readonly width?: number };

/** A table of a saved query's result over the time range of the dashboard. */
export function table(
  { function: lambda, service }: AutoscalerFunction,
  { title, query, width }: Table,
): IWidget {
  return new LogQueryWidget({
    ...THIRD,
    title,
    width: width ?? THIRD.width,
    logGroupNames: [lambda.logGroup.logGroupName],
    queryLines: [...queryLines(query, service)],
  });
}
